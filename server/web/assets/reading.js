// @ts-check
// What was read from files: what became of their lines, what is to be asked, and which columns
// are used. People choose, and the files are read again.

import { h, show } from "./dom.js";
import { plural } from "./format.js";
import { columnsOf, ledgerOf, partNames, questionWords, roleName, sentence } from "./words.js";

// Roles whose column can be changed after a file was read.
const changeable = ["source", "target", "node", "id", "value", "cost", "exposure", "tested"];

export class Reading {
  // onChoose is called with a file and the settings that were chosen for it.
  /** @param {(file: string, set: import("./words.js").Setting[]) => void} onChoose */
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.element = h("section", { class: "card reading", id: "reading", tabindex: "-1", "aria-labelledby": "reading-title", hidden: true });
  }

  hide() {
    this.element.hidden = true;
  }

  // show presents an answer of the server; names are those of the files.
  show(answer, names) {
    const open = answer.questions.length > 0;
    show(this.element,
      h("h2", { id: "reading-title" }, open ? "A question about your files" : "What was read"),
      open ? answer.questions.map((q, k) => this.question(q, k, names)) : h("p", { id: "reading-sum" }, summary(answer)),
      answer.files.map(({ file, report }) => this.file(file, report, names)),
      !open && this.notes(answer.notes));
    this.element.hidden = false;
  }

  question(question, k, names) {
    const { text, ask, choices, advice } = questionWords(question);
    const name = `question-${k}`;
    const said = h("p", { id: `${name}-text` }, h("b", null, `${partNames[question.file]}, ${names[question.file] ?? "file"}. `), text);
    const hints = advice.length > 0 && h("ul", { class: "verdicts soft" }, advice.map((a) => h("li", null, a)));
    if (choices.length === 0) return h("div", { class: "question refused", id: name, role: "alert" }, said, hints, h("p", { class: "soft" }, "Change the file, then choose it again."));
    return h("fieldset", { class: "question", id: name, "aria-describedby": said.id },
      h("legend", null, ask), said,
      choices.map((c, j) => this.choice(question, c, `${name}-${j}`)),
      hints && h("p", { class: "soft" }, "Or change the file:"), hints);
  }

  choice(question, { text, set, open }, id) {
    if (open) {
      return h("p", null, columnChoice(id, `Column for ${roleName(open)}`, question.columns ?? [], "", (value) => this.onChoose(question.file, [{ ...set[0], value }])));
    }
    return h("p", null, h("button", { type: "button", id, class: "answer", onclick: () => this.onChoose(question.file, set) }, text));
  }

  // file tells what became of a file, and which columns are used.
  file(file, report, names) {
    const used = (report.columns ?? []).filter((c) => changeable.includes(c.role));
    const others = (report.columns ?? []).filter((c) => !changeable.includes(c.role) && c.role !== "weight" && c.role !== "distance").map((c) => `${roleName(c.role)}: ${c.name ?? c.number}`);
    return h("div", { class: "file", id: `read-${file}` },
      h("h3", null, partNames[file], " ", h("span", { class: "id soft" }, names[file] ?? "")),
      h("p", { class: "ledger" }, `${ledgerOf(report)}.`),
      h("div", { class: "used" },
        used.map((c) => this.column(file, c, columnsOf(report))),
        file === "edges" && used.length > 0 && this.weights(report)),
      others.length > 0 && h("p", { class: "soft" }, `Also used: ${others.join(", ")}.`),
      (report.bad_rows ?? []).length > 0 && h("details", null, h("summary", null, "Rows that were left out"), h("ul", null, report.bad_rows.map((row) => h("li", null, row)))));
  }

  column(file, { role, number, name }, columns) {
    const id = `column-${file}-${role}`;
    return columnChoice(id, roleName(role), columns, name || String(number), (value) => this.onChoose(file, [{ option: "columns", role, value }]));
  }

  // weights shows how the numbers at edges are used.
  weights(report) {
    const distance = report.columns.find((c) => c.role === "distance");
    const weight = report.columns.find((c) => c.role === "weight");
    const now = distance ? "distance" : weight ? "similarity" : "ignore";
    const column = (distance ?? weight)?.name;
    const select = h("select", { id: "column-edges-weights", onchange: () => this.onChoose("edges", [{ option: "weights", value: select.value }]) },
      [["similarity", column ? `${column}: larger is closer` : "larger is closer"], ["distance", column ? `${column}: larger is farther` : "larger is farther"], ["ignore", "all edges alike"]]
        .map(([value, text]) => h("option", { value, selected: value === now }, text)));
    return h("label", { class: "pick", for: select.id }, "numbers at edges", select);
  }

  notes(notes) {
    if (notes.length === 0) return null;
    return h("div", { class: "notes" }, h("h3", null, "Worth knowing"),
      h("ul", { class: "verdicts" }, notes.map((n, k) => {
        const { choices } = questionWords(n);
        return h("li", null, sentence(n.text), " ",
          choices.filter((c) => !c.open).map((c, j) => [h("button", { type: "button", class: "answer", id: `note-${k}-${j}`, onclick: () => this.onChoose(n.file, c.set) }, c.text), " "]));
      })));
  }
}

// columnChoice is a list of the columns of a file.
function columnChoice(id, label, columns, now, onChange) {
  const select = h("select", { id, onchange: () => select.value !== "" && onChange(select.value) },
    now === "" && h("option", { value: "" }, "choose a column"),
    [...new Set(now === "" || columns.includes(now) ? columns : [now, ...columns])].map((c) => h("option", { value: c, selected: c === now }, /^\d+$/.test(c) ? `column ${c}` : c)));
  return h("label", { class: "pick", for: id }, label, select);
}

// summary is what will be created.
function summary({ nodes, edges, values, allowed, coordinates }) {
  const said = [`${plural(nodes, "node")}, ${plural(edges, "edge")} and ${values === 0 ? "no measurements yet" : plural(values, "measurement")}.`];
  if (allowed !== undefined) said.push(`${plural(allowed, "node")} may be suggested.`);
  if (coordinates === "none") said.push("There are no coordinates, so the map is drawn from the network alone.");
  return said.join(" ");
}
