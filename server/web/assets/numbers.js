// @ts-check
// Numbers as people type them, whatever the decimal sign of their country or their keypad.

const digits = { "\u0660": 0x0660, "\u06f0": 0x06f0 }; // zeros of other alphabets

// plain writes digits, signs and spaces of all keypads in one way.
function plain(text) {
  let out = text.trim();
  for (const [zero, at] of Object.entries(digits)) {
    const range = new RegExp(`[${zero}-${String.fromCharCode(at + 9)}]`, "g");
    out = out.replace(range, (d) => String(d.charCodeAt(0) - at));
  }
  return out.replaceAll("\u066b", ",").replaceAll("\u066c", "").replace(/[\u2212\u2013\uff0d]/g, "-").replace(/[\u00a0\u2009\u202f']/g, " ");
}

// decimal returns a number with a point for its decimal sign, null if there is no telling. One
// comma, or one point, is the decimal sign; of both, the last is, and the others part thousands.
function decimal(text) {
  const found = /^([+-]?)([\d., ]+)(e[+-]?\d+)?$/i.exec(text);
  if (!found) return null;
  const [, sign, body, power = ""] = found;
  const last = Math.max(body.lastIndexOf(","), body.lastIndexOf("."));
  const mark = last < 0 ? "" : body[last];
  const marks = [...body].filter((c) => c === mark).length;
  const whole = marks === 1 ? body.slice(0, last) : body;
  const rest = marks === 1 ? body.slice(last + 1) : "";
  const grouped = /^\d{1,3}(?:([., ])\d{3})(?:\1\d{3})*$/.test(whole);
  if (!/^\d*$/.test(whole) && !grouped) return null;
  if (!/^\d*$/.test(rest) || (whole === "" && rest === "")) return null;
  return `${sign}${whole.replace(/\D/g, "") || "0"}${rest === "" ? "" : `.${rest}`}${power}`;
}

// parseNumber parses what a user typed, and throws an error for the user.
export function parseNumber(text) {
  const typed = plain(text);
  if (typed === "") throw { title: "A number is missing" };
  const written = decimal(typed);
  if (written === null) throw { title: `“${text.trim()}” is not a number`, detail: "write it as 3.3, 3,3, −2 or 1.5e6" };
  const value = Number(written);
  if (!Number.isFinite(value)) throw { title: `${text.trim()} is too large` };
  return value;
}

// negated is a typed number with the other sign, for keypads that have no minus.
export function negated(text) {
  const typed = text.trimStart();
  return /^[-\u2212\u2013]/.test(typed) ? typed.slice(1) : `-${typed.replace(/^\+/, "")}`;
}
