// @ts-check
// What explains the values: effects of columns with their intervals, and parts of the
// model.

import { h, svg, table } from "./dom.js";
import { number, percent } from "./format.js";

const parts = { graph: "the network", covariates: "all columns together", "covariates × roles": "columns combined with roles" };

// effectsSection shows the effects of a model; null if it uses the network alone.
export function effectsSection(e) {
  if (!e || e.terms.every((t) => t === "graph")) return null;
  return h("section", { class: "card wide", id: "effects" },
    h("h2", null, "What explains the values"),
    h("ul", { class: "verdicts" }, e.words.map((w) => h("li", null, sentence(w)))),
    e.columns?.length > 0 && columns(e),
    h("h3", null, "Parts of the model"),
    h("p", { class: "soft" }, "How much the predictions vary over nodes by each part, and the noise of a measurement, as shares of their sum. Parts may overlap."),
    h("div", { class: "bars" }, e.parts.map((p) => h("div", { class: "bar-row" }, h("span", null, parts[p.name] ?? p.name), share(p.share), h("span", { class: "figure" }, percent(p.share))))));
}

function sentence(words) {
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}

function columns(e) {
  const low = Math.min(0, ...e.columns.map((f) => f.lower)), high = Math.max(0, ...e.columns.map((f) => f.upper));
  const scale = e.scale ? `, on the ${e.scale} scale` : "";
  return [
    h("h3", null, "Effects of columns"),
    h("p", { class: "soft" }, `The mean change when one column alone moves from one value to the other, with ${percent(e.level)} intervals${scale}; clear ones are coloured. “Between nodes” is the difference between the nodes that have these values, with all else that differs between them. Both are associations: a column may stand for another one that is not in the table.`),
    table("Effects of columns", [
      { name: "column", text: (f) => (f.level ? `${f.column} = ${f.level}` : f.column), class: "t id" },
      { name: "from", text: (f) => f.from },
      { name: "to", text: (f) => f.to },
      { name: "change", text: (f) => number(f.mean, 2) },
      { name: "interval", text: (f) => span(f), class: "c" },
      { name: "drawn", text: (f) => interval(f, low, high), class: "c" },
      { name: "between nodes", text: (f) => (f.between ? `${number(f.between.mean, 2)}, ${span(f.between)}` : "–"), class: "c" },
    ], e.columns),
    e.left_out?.length > 0 && h("p", { class: "soft" }, `Not computed, as their linear effects are smaller: ${e.left_out.join(", ")}.`),
  ];
}

function span({ lower, upper }) {
  return `${number(lower, 2)} to ${number(upper, 2)}`;
}

// interval draws an interval on an axis with a line at 0.
function interval({ mean, lower, upper }, low, high) {
  const at = (v) => 4 + (152 * (v - low)) / (high - low || 1);
  return svg("svg", { class: lower > 0 || upper < 0 ? "interval clear" : "interval", width: 160, height: 14, viewBox: "0 0 160 14", "aria-hidden": "true" },
    svg("line", { class: "zero", x1: at(0), x2: at(0), y1: 0, y2: 14 }),
    svg("line", { class: "reach", x1: at(lower), x2: at(upper), y1: 7, y2: 7 }),
    svg("circle", { cx: at(mean), cy: 7, r: 3.5 }));
}

function share(part) {
  return svg("svg", { height: 16, viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "bar-room", width: 100, height: 16 }),
    svg("rect", { class: "bar", y: 3, width: 100 * Math.min(1, part), height: 10 }));
}
