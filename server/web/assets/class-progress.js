// @ts-check
// Progress of a study of classes: how many labels there are of each class, and how often a suggested
// node was of the class that was expected.

import { chart } from "./chart.js";
import { mostColours } from "./classes.js";
import { h, table } from "./dom.js";
import { count, percent, plural } from "./format.js";

const lately = 10; // labels that the share is taken over

/** @typedef {{ observation: number, node: string, class: string, expected?: string, probability?: number }} Point */

// classProgress shows the labels in the order told.
export function classProgress(/** @type {Point[]} */ points, /** @type {{ class: string, count: number }[]} */ classes) {
  if (points.length === 0) return h("p", { class: "card soft" }, "No labels yet. Results appear here when they arrive.");
  return [counts(points, classes), rightChart(points)];
}

function counts(points, classes) {
  return h("section", { class: "card" }, h("h2", null, `${plural(points.length, "label")} of ${plural(classes.filter((c) => c.count > 0).length, "class", "classes")}`),
    table("Labels of each class", [
      { name: "class", text: (c) => [h("span", { class: `class-key class-${Math.min(classes.indexOf(c), mostColours)}` }), c.class], class: "t" },
      { name: "labels", text: (c) => count(c.count) },
    ], classes));
}

// recentlyRight is the share of the last labels that were expected, after each label that was
// predicted before it was told.
export function recentlyRight(/** @type {Point[]} */ points, over = lately) {
  const asked = points.map((_, k) => k).filter((k) => points[k].expected !== undefined);
  return asked.slice(over - 1).map((k, i) => ({ at: k + 1, share: asked.slice(i, i + over).filter((j) => points[j].class === points[j].expected).length / over }));
}

function rightChart(points) {
  const right = recentlyRight(points);
  const last = right.at(-1);
  if (!last) {
    return h("section", { class: "card" }, h("h2", null, "Expected and found"),
      h("p", { class: "soft" }, `Once ${lately} suggested nodes have a class, the share that was predicted correctly appears here.`));
  }
  return h("section", { class: "card" }, h("h2", null, `Of the last ${lately} suggested nodes, ${percent(last.share)} were as expected`),
    h("p", { class: "soft" }, "Suggested nodes are those that the model is least sure about, so this share is lower than that over all nodes."),
    chart({ title: `Share of ${lately} classes that were expected`, xName: "labels", yName: "share", x: [right[0].at - 0.5, points.length + 0.5], y: [0, 1], xTicks: undefined,
      layers: [{ kind: "line", class: "best", name: "as expected", x: right.map((r) => r.at), y: right.map((r) => r.share) }] }));
}
