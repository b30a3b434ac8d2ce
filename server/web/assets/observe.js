// @ts-check
// Measurements that belong to no trial, pasted as lines.

import { Once, patiently, studyPath } from "./api.js";
import { field, h } from "./dom.js";
import { draft, keepDraft } from "./drafts.js";
import { plural, sizeName } from "./format.js";
import { parseNumber } from "./numbers.js";
import { accept, busy, refuse, say } from "./notice.js";
import { person } from "./person.js";

// observeForm takes lines with a node and a value.
export function observeForm(context) {
  const size = sizeName(context.study.settings);
  const { labels } = context.study.settings;
  const text = h("textarea", { id: "observe", rows: 4, spellcheck: "false", placeholder: labels ? "n17, oak" : size ? "n17, 3, 20" : "n17, 3.3", oninput: () => { accept(text); keepDraft(context.name, "observe", text.value === "" ? null : { text: text.value }); } });
  const kept = draft(context.name, "observe");
  text.value = kept?.text ?? "";
  const button = h("button", { class: "primary" }, "Add measurements");
  const once = new Once(kept?.once);
  const save = async () => {
    try {
      const observations = readLines(text.value, size, labels);
      const body = { observations, by: person() };
      const headers = once.headers(body);
      keepDraft(context.name, "observe", { text: text.value, once }); // a reload sends it with the same key
      await patiently("POST", studyPath(context.name, "observations"), { body, headers });
      once.answered();
      text.value = "";
      keepDraft(context.name, "observe", null);
      say(`${plural(observations.length, "measurement")} saved.`);
      context.changed();
    } catch (error) {
      refuse(text, error);
    }
  };
  return h("details", { class: "card", open: window.matchMedia("(min-width: 52rem)").matches },
    h("summary", null, h("h2", null, "Other measurements")),
    h("form", { onsubmit: (e) => { e.preventDefault(); busy(button, save); } },
      field("Measurements that were not suggested", text, size === "tested" ? "One per line: node, comma or tab, number of positives, comma or tab, number tested. All are saved, or none."
        : size ? "One per line: node, comma or tab, count, comma or tab, exposure. All are saved, or none."
          : `One per line: node, comma or tab, ${labels ? "class" : "value"}. All are saved, or none.`),
      h("p", { class: "actions" }, button)));
}

// readLines splits each line at its last tab, semicolon or comma, in this order of
// preference, because ids may contain the others; with a size, at the last two. It throws
// on the first bad line.
function readLines(text, size, labels = false) {
  const rows = [];
  text.split("\n").forEach((line, k) => {
    if (line.trim() === "") return;
    const one = ["\t", ";", ","].map((mark) => new RegExp(`^(.*)${mark}${size ? `([^${mark}]*)${mark}` : ""}([^${mark}]*)$`).exec(line)).find(Boolean);
    const wanted = size === "tested" ? "a node, a comma, a number of positives, a comma and the number tested" : size ? "a node, a comma, a count, a comma and its exposure" : `a node, a comma and a ${labels ? "class" : "value"}`;
    if (!one) throw { title: `Line ${k + 1} has no comma`, detail: `“${line.trim()}” should be ${wanted}` };
    try {
      if (labels) {
        rows.push({ node: one[1].trim(), class: one[2].trim() });
        return;
      }
      const row = { node: one[1].trim(), value: parseNumber(one[2]) };
      if (size) row.exposure = parseNumber(one[3]);
      rows.push(row);
    } catch (error) {
      throw { title: `Line ${k + 1}: ${error.title}`, detail: error.detail };
    }
  });
  if (rows.length === 0) throw { title: "No measurement was entered" };
  return rows;
}
