// @ts-check
// How well classes are predicted: each label from the others.

import { mostColours } from "./classes.js";
import { h, svg, table } from "./dom.js";
import { percent, plural } from "./format.js";

const surprising = 8; // rows of the table
const wide = 12; // classes of which all confusions are shown
const fewest = 5; // labels of a bin that is drawn
const enough = 30; // labels for a verdict on the probabilities

/** @typedef {{ accuracy: number, accuracy_se: number, nll: number, ece: number }} Score */
/** @typedef {{ count: number, confidence: number, accuracy: number }} Bin */
/** @typedef {{ node: string, class: string, predicted: string, probability: number, chance: number }} Left */
/** @typedef {Score & { classes: string[], scheme: string, baselines: Record<string, Score>, confusion: number[][], reliability: Bin[], left: Left[] }} Calibration */

const rules = { "majority class": "always naming the most frequent class", "label spreading": "label spreading, which averages over neighbours" };

// classContents is the view of trust of a study of classes.
export function classContents(/** @type {Calibration} */ c) {
  return [
    h("section", { class: "card wide" }, h("h2", null, "How reliable are the predictions?"), h("ul", { class: "verdicts" }, classVerdicts(c).map((v) => h("li", null, v)))),
    h("section", { class: "card" }, h("h2", null, "Reported and predicted"), confusion(c)),
    h("div", { class: "stack" },
      h("section", { class: "card" }, h("h2", null, "Are the probabilities right?"), reliability(c)),
      h("section", { class: "card" }, h("h2", null, "Share right, compared with simple rules"), shares(c))),
    h("section", { class: "card wide" }, h("h2", null, "Check these first"), surprises(c)),
  ];
}

// classVerdicts interpret the figures.
export function classVerdicts(/** @type {Calibration} */ c) {
  const n = c.left.length;
  const said = [`Of ${plural(n, "label")}, each predicted from the others, ${percent(c.accuracy)} are right.`];
  const [name, best] = Object.entries(c.baselines).sort((a, b) => b[1].accuracy - a[1].accuracy)[0] ?? [];
  if (best) {
    const room = 2 * Math.hypot(c.accuracy_se, best.accuracy_se);
    const by = rules[name] ?? name;
    if (c.accuracy - best.accuracy > room) said.push(`That is clearly better than ${by} (${percent(best.accuracy)}).`);
    else if (best.accuracy - c.accuracy > room) said.push(`Take care: ${by} is right more often (${percent(best.accuracy)}).`);
    else said.push(`With so few labels it does not differ clearly from ${by} (${percent(best.accuracy)}).`);
  }
  if (n < enough) said.push(`There are not enough labels to tell whether the probabilities can be trusted: some ${enough} are needed.`);
  else said.push(c.ece > chanceError(c) ? `Probabilities are off by ${percent(c.ece)} on average, which is more than chance explains.` : `Probabilities and shares differ by ${percent(c.ece)} on average, which chance can explain.`);
  return said;
}

// chanceError is about the calibration error that probabilities which are right have at most, in
// nineteen of twenty cases.
export function chanceError(/** @type {Calibration} */ c) {
  const n = c.left.length;
  const bins = c.reliability.filter((b) => b.count > 0);
  const sd = (b) => Math.sqrt((b.confidence * (1 - b.confidence)) / b.count);
  const mean = bins.reduce((sum, b) => sum + (b.count / n) * sd(b) * Math.sqrt(2 / Math.PI), 0);
  const variance = bins.reduce((sum, b) => sum + ((b.count / n) * sd(b)) ** 2 * (1 - 2 / Math.PI), 0);
  return mean + 1.645 * Math.sqrt(variance);
}

function confusion(c) {
  const key = (k) => h("span", { class: `class-key class-${Math.min(k, mostColours)}` });
  if (c.classes.length > wide) {
    const pairs = c.confusion.flatMap((row, k) => row.map((n, j) => ({ told: c.classes[k], predicted: c.classes[j], n, wrong: k !== j }))).filter((p) => p.wrong && p.n > 0).sort((a, b) => b.n - a.n);
    return table("Most frequent confusions", [
      { name: "found", text: (p) => p.told, class: "t" }, { name: "predicted", text: (p) => p.predicted, class: "t" }, { name: "labels", text: (p) => String(p.n) },
    ], pairs.slice(0, 10), "No label was predicted wrongly.");
  }
  return h("div", { class: "scroll" }, h("table", { class: "confusion" },
    h("caption", null, "Labels by reported class (rows) and by the class predicted from the others (columns)"),
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "found"), c.classes.map((name, k) => h("th", { scope: "col" }, key(k), name)))),
    h("tbody", null, c.confusion.map((row, k) => h("tr", null, h("th", { scope: "row" }, key(k), c.classes[k]), row.map((n, j) => h("td", { class: k === j ? "right" : n > 0 ? "wrong" : "" }, n === 0 ? "·" : String(n))))))));
}

function reliability(c) {
  const bins = c.reliability.filter((b) => b.count >= fewest);
  if (bins.length === 0) return h("p", { class: "soft" }, "Not enough labels to tell.");
  return [
    h("p", { class: "soft" }, "How often predictions were right, by their probability. The mark is the probability itself; bins with fewer than five labels are left out."),
    h("div", { class: "bars" }, bins.map((b) => bar(`predicted with ${percent(b.confidence)} (${plural(b.count, "label")})`, percent(b.accuracy), b.accuracy, b.confidence))),
  ];
}

function shares(c) {
  const all = [{ name: "the model", score: c, ours: true }, ...Object.entries(c.baselines).map(([name, score]) => ({ name, score, ours: false }))];
  return h("div", { class: "bars" }, all.sort((a, b) => b.score.accuracy - a.score.accuracy).map(({ name, score, ours }) => bar(name, percent(score.accuracy), score.accuracy, undefined, ours)));
}

/** @param {number} [at] */
function bar(name, text, share, at, ours = true) {
  const drawing = svg("svg", { height: 16, viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "bar-room", width: 100, height: 16 }),
    svg("rect", { class: ours ? "bar" : "bar other", y: 3, width: 100 * share, height: 10 }),
    at !== undefined && svg("rect", { class: "bar-goal", x: 100 * at - 0.3, width: 0.6, height: 16 }));
  return h("div", { class: "bar-row" }, h("span", null, name), drawing, h("span", { class: "figure" }, text));
}

function surprises(c) {
  const rows = c.left.filter((l) => l.class !== l.predicted).sort((a, b) => a.chance - b.chance).slice(0, surprising);
  return [
    h("p", { class: "soft" }, "A wrong label, or a node unlike its neighbours."),
    table("Labels that the others contradict most", [
      { name: "node", text: (l) => l.node, class: "t id" },
      { name: "found", text: (l) => l.class, class: "t" },
      { name: "its probability", text: (l) => percent(l.chance) },
      { name: "predicted", text: (l) => `${l.predicted} (${percent(l.probability)})`, class: "t" },
    ], rows, "All labels were predicted correctly."),
  ];
}
