// @ts-check
// Files that somebody brings: which is which, and a name for their study.

/** @typedef {"edges" | "measurements" | "nodes" | "allowed" | "costs"} Part */

// parts are the files of a study, in the order in which the page asks for them.
/** @type {Part[]} */
export const parts = ["edges", "measurements", "nodes", "allowed", "costs"];

const signs = [
  // by the name of the file, or by the names of its columns; the first that fits counts
  { part: "allowed", name: /allow|candidat/i },
  { part: "costs", name: /cost|price/i },
  { part: "edges", name: /edge|link|road|street|pipe|network|graph|connection|\.mtx\b/i },
  { part: "measurements", name: /measure|reading|observ|value|speed|result|sample|label/i },
  { part: "nodes", name: /node|place|junction|station|site|coord|position|vert/i },
  { part: "edges", columns: [/^(source|src|from.*|start|u|node1|a)$/, /^(target|dst|to.*|end|v|node2|b)$/] },
  { part: "nodes", columns: [/^(lat|latitude|y|northing)$/, /^(lon|lng|long|longitude|x|easting)$/] },
  { part: "measurements", columns: [/^(node|id|.*_id|station|sensor|detector|name)$/, /./] },
];

// partOf guesses what a file holds from its name and its first line; null if nothing tells.
/**
 * @param {string} name
 * @param {string} firstLine
 * @returns {Part | null}
 */
export function partOf(name, firstLine) {
  const columns = firstLine.split(/[,;|\t]|\s+/).map((c) => c.trim().replace(/^"|"$/g, "").toLowerCase()).filter(Boolean);
  const byColumns = signs.find((s) => s.columns && columns.length > 1 && s.columns.every((pattern) => columns.some((c) => pattern.test(c))));
  const byName = signs.find((s) => s.name?.test(name));
  // Two ends of an edge tell more than a name such as speeds-of-roads.csv.
  const found = byColumns?.part === "edges" ? byColumns : byName ?? byColumns;
  return /** @type {Part | null} */ (found?.part ?? null);
}

// assign gives each file a part: as guessed, and otherwise the first that is free.
/**
 * @template {{ name: string, firstLine: string }} F
 * @param {F[]} files
 * @returns {Map<Part, F>}
 */
export function assign(files) {
  /** @type {Map<Part, F>} */
  const chosen = new Map();
  const left = files.filter((file) => {
    const part = partOf(file.name, file.firstLine);
    if (part === null || chosen.has(part)) return true;
    chosen.set(part, file);
    return false;
  });
  for (const file of left) {
    const free = parts.find((part) => !chosen.has(part));
    if (free) chosen.set(free, file);
  }
  return chosen;
}

// firstLineOf reads the first line of a file that is neither blank nor a comment; "" of one that
// is compressed.
/** @param {Blob} file */
export async function firstLineOf(file) {
  const text = await file.slice(0, 4096).text();
  if (/[\0\uFFFD]/.test(text.slice(0, 16))) return "";
  return text.split(/\r?\n/).find((line) => line.trim() !== "" && !/^[#%]/.test(line)) ?? "";
}

// nameFor makes the name of a file that of a study, which is not taken.
/**
 * @param {string} file
 * @param {string[]} taken
 */
export function nameFor(file, taken) {
  const plain = file.replace(/\.(gz|zst)$/i, "").replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{Nd}._-]+/gu, "-").replace(/^[^\p{L}\p{Nd}]+|[^\p{L}\p{Nd}]+$/gu, "").slice(0, 40) || "study";
  for (let k = 1; ; k++) {
    const name = k === 1 ? plain : `${plain}-${k}`;
    if (!taken.includes(name)) return name;
  }
}

// nameFault says what is wrong with the name of a study; "": nothing.
/**
 * @param {string} name
 * @param {string[]} taken
 */
export function nameFault(name, taken) {
  if (name === "") return "Give the study a name.";
  if (!/^[\p{L}\p{Nd}]/u.test(name)) return "A name begins with a letter or a digit.";
  const odd = name.match(/[^\p{L}\p{Nd}._-]/u);
  if (odd) return odd[0] === " " ? "A name has no blanks: write - or _ instead." : `A name has letters, digits and . - _ only, not “${odd[0]}”.`;
  if (new TextEncoder().encode(name).length > 128) return "The name is too long.";
  if (taken.includes(name)) return `There is already a study called ${name}.`;
  return "";
}
