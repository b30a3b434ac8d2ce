// Measurements that belong to no trial, pasted as lines.

import { Once, patiently, studyPath } from "./api.js";
import { field, h } from "./dom.js";
import { parseNumber, plural } from "./format.js";
import { accept, busy, refuse, say } from "./notice.js";
import { person } from "./person.js";

// observeForm takes lines with a node and a value.
export function observeForm(context) {
  const text = h("textarea", { id: "observe", rows: 4, spellcheck: "false", placeholder: "n17, 3.3", oninput: () => accept(text) });
  const button = h("button", { class: "primary" }, "Add measurements");
  const once = new Once();
  const save = async () => {
    try {
      const observations = readLines(text.value);
      const body = { observations, by: person() };
      await patiently("POST", studyPath(context.name, "observations"), { body, headers: once.headers(body) });
      once.answered();
      text.value = "";
      say(`${plural(observations.length, "measurement")} saved.`);
      context.changed();
    } catch (error) {
      refuse(text, error);
    }
  };
  return h("details", { class: "card", open: window.matchMedia("(min-width: 52rem)").matches },
    h("summary", null, h("h2", null, "Other measurements")),
    h("form", { onsubmit: (e) => { e.preventDefault(); busy(button, save); } },
      field("Measurements that were not suggested", text, "One per line: node, comma or tab, value. All are saved, or none."),
      h("p", { class: "actions" }, button)));
}

// readLines splits each line at its last tab, semicolon or comma, in this order of
// preference, because ids may contain the others. It throws on the first bad line.
function readLines(text) {
  const rows = [];
  text.split("\n").forEach((line, k) => {
    if (line.trim() === "") return;
    const parts = /^(.*)\t(.*)$/.exec(line) ?? /^(.*);(.*)$/.exec(line) ?? /^(.*),(.*)$/.exec(line);
    if (!parts) throw { title: `Line ${k + 1} has no comma`, detail: `“${line.trim()}” should be a node, a comma and a value` };
    try {
      rows.push({ node: parts[1].trim(), value: parseNumber(parts[2]) });
    } catch (error) {
      throw { title: `Line ${k + 1}: ${error.title}`, detail: error.detail };
    }
  });
  if (rows.length === 0) throw { title: "No measurement was entered" };
  return rows;
}
