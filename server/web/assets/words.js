// @ts-check
// What the server found in files, in the words of the page.

import { count, plural } from "./format.js";

/** @typedef {{ option: string, role?: string, value: string }} Setting */
/** @typedef {{ text: string, set: Setting[] }} Choice */
/** @typedef {{ file: string, code: string, line?: number, column?: number, text: string, advice?: string[], choices?: Choice[], columns?: string[] }} Question */
/** @typedef {{ role: string, number?: number, name?: string, why: string }} Column */
/** @typedef {{ columns?: Column[], unused_columns?: string[], ledger: Record<string, any>, warnings?: string[], bad_rows?: string[] }} Report */

export const partNames = {
  edges: "Network", measurements: "Measurements", nodes: "Node table", allowed: "Nodes that may be suggested", costs: "Costs",
};

const roleQuestions = {
  source: "Which column holds the first node of each edge?", target: "Which column holds the second node of each edge?",
  weight: "Which column holds the weights of the edges?", distance: "Which column holds the lengths of the edges?",
  node: "Which column holds the ids of the nodes?", id: "Which column holds the ids of the nodes?",
  value: "Which column holds the measured values?", cost: "Which column holds the costs?",
  exposure: "Which column holds the exposures?", tested: "Which column holds the numbers tested?", class: "Which column holds the classes?",
};

const roleNames = {
  source: "from", target: "to", weight: "weight", distance: "length", node: "node", id: "node", value: "value", sd: "standard deviation", label: "name",
  lat: "latitude", lon: "longitude", x: "x", y: "y", cost: "cost", allowed: "may be suggested", group: "group", exposure: "exposure", tested: "number tested", class: "class",
};

// choiceWords are those of settings that people choose between.
const choiceWords = {
  "weights=similarity": "Closeness: the larger the number, the more alike the two nodes are",
  "weights=distance": "Distance: the larger the number, the farther apart the two nodes are",
  "weights=ignore": "Neither: treat all edges alike",
  "bad_rows=skip": "Leave these rows out",
  "header=yes": "The first line holds the names of the columns",
  "header=no": "The first line is data",
  "decimal=point": "Numbers are written with a decimal point, as in 3.5",
  "decimal=comma": "Numbers are written with a decimal comma, as in 3,5",
  "delimiter=comma": "Columns are separated by commas",
  "delimiter=semicolon": "Columns are separated by semicolons",
  "delimiter=tab": "Columns are separated by tabs",
  "delimiter=pipe": "Columns are separated by |",
  "delimiter=blanks": "Columns are separated by blanks",
  "repeats=keep": "Keep all measurements of a node",
  "repeats=last": "Keep the last measurement of each node",
  "times=latest": "Use the latest measurement of each node",
  "times=ignore": "Use all of them as repeated measurements",
  "values=yes-no": "Yes or no: 1 means yes, 0 means no",
  "values=count": "Counts: how many of something",
  "values=class": "They are classes: names, such as oak or beech",
  "values=gaussian": "Measured numbers that happen to be whole",
};

// advice that is of use on a command line only, with what helps here.
const adviceWords = [
  [/iconv|save it as CSV \(UTF-8\)/, "Save the file as CSV in UTF-8."],
  [/^convert it: tr /, "Save the file with ordinary line ends (LF or CR LF)."],
  [/^with pandas|^write one edge per line/, "Write one edge per line: source, target, weight."],
  [/^name another file|^name a file of text/, "Choose another file."],
  [/^check the disk/, "Choose the file again."],
];

// damage is said of files that cannot be read to their end.
const codeWords = { damaged: "The file is damaged, or was cut short." };

// sentence begins with a capital and ends with a full stop.
/** @param {string} text */
export function sentence(text) {
  if (text === "") return "";
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!…:]$/.test(begun) ? begun : `${begun}.`;
}

// questionWords are those of a question: what is wrong or open, what to ask, the choices, and
// advice about the file. A choice with a role is completed by a column.
/** @param {Question} question */
export function questionWords(question) {
  const { line, column, text, code } = question;
  const place = line ? `Line ${count(line)}${column ? `, character ${count(column)}` : ""}: ` : "";
  const choices = (question.choices ?? []).map((choice) => wordsOfChoice(choice));
  return {
    text: codeWords[code] ?? place + (place ? text + (/[.?!]$/.test(text) ? "" : ".") : sentence(text)),
    ask: askWords(question),
    choices,
    advice: (question.advice ?? []).map((a) => adviceWords.find(([pattern]) => /** @type {RegExp} */ (pattern).test(a))?.[1] ?? sentence(a)),
  };
}

/** @param {Question} question */
function askWords({ code, choices = [] }) {
  const settings = choices.flatMap((c) => c.set);
  if (code === "kind") return "What are these values?";
  if (settings.some((s) => s.option === "weights")) return "What do the numbers mean?";
  const roles = [...new Set(settings.filter((s) => s.option === "columns").map((s) => s.role))];
  if (roles.length === 1) return roleQuestions[roles[0]] ?? "Which column is it?";
  if (roles.length > 1) return "Which columns hold the two nodes of each edge?";
  if (choices.length === 1) return "What should happen to these rows?";
  return choices.length > 1 ? "Which is right?" : "";
}

/** @param {Choice} choice */
function wordsOfChoice({ text, set }) {
  const [first] = set;
  const open = set.length === 1 && first.option === "columns" && first.value === "" ? first.role : null;
  if (set.every((s) => s.option === "columns") && !open) {
    const named = set.map((s) => (set.length > 1 ? `${roleNames[s.role] ?? s.role}: ${s.value}` : s.value)).join(", ");
    return { text: named, set, open };
  }
  return { text: choiceWords[`${first.option}=${first.value}`] ?? sentence(text).replace(/\.$/, ""), set, open };
}

const ledgerWords = [
  ["header", "header"], ["edges", "edge", "edges"], ["rows", "used", "used"], ["repeats", "repeated", "repeated"], ["self_loops", "from a node to itself, left out"],
  ["zero_weights", "of weight 0, left out"], ["missing", "without a value"], ["unknown", "of unknown nodes, left out"], ["blank", "blank"], ["comments", "comment", "comments"], ["bad", "unusable, left out"],
];

// ledgerOf says what became of the lines of a file: "5 lines: 1 header, 4 edges".
/** @param {Report} report */
export function ledgerOf({ ledger }) {
  const terms = ledgerWords.filter(([key]) => ledger[key] > 0).map(([key, one, many = one]) => `${count(ledger[key])} ${ledger[key] === 1 ? one : many}`);
  const unit = ledger.unit.replace(/s$/, "");
  return `${plural(ledger.total, unit)}: ${terms.join(", ")}`;
}

// columnsOf are the columns of a file, by name or by number.
/** @param {Report} report */
export function columnsOf(report) {
  const used = (report.columns ?? []).filter((c) => c.number).sort((a, b) => (a.number ?? 0) - (b.number ?? 0)).map((c) => c.name || String(c.number));
  return [...new Set([...used, ...(report.unused_columns ?? [])])];
}

// roleName is what a column is used for.
/** @param {string} role */
export function roleName(role) {
  return roleNames[role] ?? role;
}

// bytes is a size of files.
/** @param {number} n */
export function bytes(n) {
  if (n < 1000) return `${n} bytes`;
  for (const unit of ["kB", "MB"]) {
    n /= 1000;
    if (n < 1000) return `${n < 10 ? n.toFixed(1) : Math.round(n)} ${unit}`;
  }
  return `${(n / 1000).toFixed(1)} GB`;
}
