// @ts-check
// Covariates: columns of the node table that a model may use.

import { h, show } from "./dom.js";
import { plural } from "./format.js";

// Kinds of columns that say nothing about other nodes, with the reason.
const useless = { identifier: "a different value at nearly every node", empty: "no values" };

const kinds = { number: "numbers", category: "categories", date: "dates", words: "words", identifier: "identifiers", empty: "empty" };

// ColumnChoice offers the columns of a graph as check boxes.
export class ColumnChoice {
  constructor() {
    this.boxes = [];
    this.element = h("div", { id: "new-columns" });
    this.offer(null);
  }

  // offer shows the columns of a graph; null stands for a graph that is not known yet.
  offer(columns) {
    this.boxes = [];
    if (columns === null) {
      show(this.element, h("p", { class: "soft" }, "Once the files are read, their columns appear here."));
      return;
    }
    if (columns.length === 0) {
      show(this.element, h("p", { class: "soft" }, "This network has no node table with columns."));
      return;
    }
    const rows = columns.map((c, k) => this.row(c, k));
    const set = (on) => this.boxes.forEach(({ box, column }) => { box.checked = on && !box.disabled && !column.role; });
    show(this.element,
      h("fieldset", { class: "columns" }, h("legend", null, "Columns"), rows),
      h("p", { class: "actions" },
        h("button", { type: "button", id: "columns-all", onclick: () => set(true) }, "All"),
        h("button", { type: "button", id: "columns-none", onclick: () => set(false) }, "None")));
  }

  row(column, k) {
    const box = h("input", { type: "checkbox", id: `column-${k}`, disabled: column.kind in useless });
    this.boxes.push({ box, column });
    const facts = [
      kinds[column.kind] ?? column.kind,
      column.missing > 0 && `missing at ${plural(column.missing, "node")}`,
      column.role && `also the ${column.role} of nodes; not part of All`,
      useless[column.kind] && `cannot be used: ${useless[column.kind]}`,
    ];
    return h("label", { class: "choice", for: box.id }, box, h("span", null, h("span", { class: "id" }, column.name), h("span", { class: "soft" }, ` ${facts.filter(Boolean).join("; ")}`)));
  }

  // chosen returns the names of the columns that are ticked.
  chosen() {
    return this.boxes.filter(({ box }) => box.checked).map(({ column }) => column.name);
  }
}

// modelWords says in sentences what a model with the given terms predicts from.
export function modelWords(terms, settings) {
  const columns = settings.covariates ?? [];
  const named = columns.length === 1 && columns[0] === "all" ? "the columns of the node table"
    : columns.length > 4 ? `${plural(columns.length, "column")} of the node table` : `the ${columns.length === 1 ? "column" : "columns"} ${columns.join(", ")}`;
  const parts = [];
  if (terms.includes("graph")) parts.push("closeness on the network");
  if (terms.includes("covariates")) parts.push(named);
  if (terms.includes("roles")) parts.push("the roles of nodes (degrees, and which nodes they are joined to)");
  const said = [`The model predicts from ${parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0]}.`];
  if (terms.includes("product")) said.push("Nodes are most alike where they are both close and similar in these respects.");
  if (columns.length > 0 && !terms.includes("covariates")) said.push(`The measurements so far do not support a dependence on ${named}; the choice is made again when there are more.`);
  if (!terms.includes("graph")) said.push("The measurements so far do not support closeness on the network as a further term.");
  return said;
}
