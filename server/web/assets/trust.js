// @ts-check
// Cross-validation: predictions of held-out measurements.

import { patiently, studyPath } from "./api.js";
import { chart, span } from "./chart.js";
import { classContents } from "./class-trust.js";
import { modelWords } from "./covariates.js";
import { h, show, svg, table } from "./dom.js";
import { effectsSection } from "./effects.js";
import { number, percent, plural, uncertainty } from "./format.js";
import { pendingNote } from "./pending.js";
import { Refresher } from "./refresher.js";
import { ranges, verdicts } from "./verdicts.js";

const most = 500; // points in the chart
const surprising = 8; // rows of the table

export function trustView(context) {
  const element = h("div", { class: "trust-view" }, h("p", { class: "soft", role: "status" }, "Cross-validating …"));
  let effects = null; // those that were loaded last
  const refresher = new Refresher(async (signal) => {
    const response = await patiently("GET", studyPath(context.name, "calibration"), { signal }, (problem) => pendingNote(element, problem));
    const c = await response.json();
    if (c.classes) return show(element, classContents(c));
    const known = c.terms?.some((t) => t !== "graph");
    show(element, contents(c, context.study.settings, known && effects));
    if (!known) return;
    effects = effectsSection(await (await patiently("GET", studyPath(context.name, "effects"), { signal })).json());
    show(element, contents(c, context.study.settings, effects));
  }, (error) => pendingNote(element, error), 2000);
  refresher.refresh();
  return { element, refresh: () => refresher.refresh(), close: () => refresher.close() };
}

function contents(c, settings, effects) {
  return [
    h("section", { class: "card wide" }, h("h2", null, "How reliable are the predictions?"), h("ul", { class: "verdicts" }, verdicts(c).map((v) => h("li", null, v)))),
    c.terms?.length > 0 && h("section", { class: "card wide", id: "model-terms" }, h("h2", null, "What the model uses"), h("ul", { class: "verdicts" }, [...modelWords(c.terms, settings), ...(c.warnings ?? []).map((w) => `Caution: ${w}`)].map((v) => h("li", null, v)))),
    effects,
    h("section", { class: "card" }, h("h2", null, "Held-out predictions"), leftOut(c.left, uncertainty(settings.spec))),
    h("div", { class: "stack" },
      h("section", { class: "card" }, h("h2", null, "Credible intervals"), coverage(c)),
      h("section", { class: "card" }, h("h2", null, "Error compared with baselines"), errors(c))),
    h("section", { class: "card wide" }, h("h2", null, "Largest errors"), surprises(c.left)),
  ];
}

function leftOut(left, { sds, name }) {
  const some = left.filter((_, k) => k % Math.ceil(left.length / most) === 0);
  const of = (f) => some.map(f);
  const low = of((l) => l.mean - sds * l.sd), high = of((l) => l.mean + sds * l.sd);
  const range = span(of((l) => l.value), of((l) => l.mean));
  return [
    h("p", { class: "soft" }, `Each measurement was predicted from the others. Exact predictions lie on the line; bars are ${name} of a measurement.`),
    chart({
      title: `${plural(some.length, "held-out measurement")}`, xName: "measured", yName: "predicted", x: range, y: span(low, high, range),
      layers: [
        { kind: "rule", class: "diagonal", name: "predicted = measured" },
        { kind: "points", class: "left", name: "held out", x: of((l) => l.value), y: of((l) => l.mean), low, high, names: of((l) => l.node), titles: of((l) => `${l.node}: measured ${number(l.value)}, predicted ${number(l.mean)}`) },
      ],
    }),
  ];
}

function coverage(c) {
  return [
    h("p", { class: "soft" }, "The share of held-out measurements inside their credible intervals (coverage). The grey range contains the coverage of a calibrated model with 95 % probability."),
    h("div", { class: "bars" }, ranges(c).judged.map(({ level, share, low, high }) => bar(`${percent(level)} intervals`, percent(share), share, { low, high, at: level }))),
  ];
}

function errors(c) {
  const others = Object.entries(c.baseline_rmse ?? {}).map(([name, rmse]) => ({ name, rmse, ours: false }));
  const all = [{ name: "the model", rmse: c.rmse, ours: true }, ...others].filter((r) => Number.isFinite(r.rmse)).sort((a, b) => a.rmse - b.rmse);
  const worst = Math.max(...all.map((r) => r.rmse));
  return [
    h("p", { class: "soft" }, "Root mean square error on held-out measurements, in their unit; shorter is better. Hyperparameters are those learned from all measurements, so the error is slightly smaller than that of grfgp validate and of a report, which learn again for each fold."),
    h("div", { class: "bars" }, all.map((r) => bar(r.name, number(r.rmse, 3), r.rmse / worst, { ours: r.ours }))),
  ];
}

// bar is a named share, with a range that it should lie in.
/** @param {string} name @param {string} text @param {number} share @param {{ low?: number, high?: number, at?: number, ours?: boolean }} marks */
function bar(name, text, share, { low, high, at, ours = true }) {
  const drawing = svg("svg", { height: 16, viewBox: "0 0 100 16", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "bar-room", width: 100, height: 16 }),
    svg("rect", { class: ours ? "bar" : "bar other", y: 3, width: 100 * Math.min(1, share), height: 10 }),
    low !== undefined && svg("rect", { class: "bar-chance", x: 100 * low, width: 100 * (high - low), height: 16 }),
    at !== undefined && svg("rect", { class: "bar-goal", x: 100 * at - 0.3, width: 0.6, height: 16 }));
  return h("div", { class: "bar-row" }, h("span", null, name), drawing, h("span", { class: "figure" }, text));
}

function surprises(left) {
  const sds = (l) => (l.value - l.mean) / l.sd;
  const rows = [...left].filter((l) => l.sd > 0).sort((a, b) => Math.abs(sds(b)) - Math.abs(sds(a))).slice(0, surprising);
  return [
    h("p", { class: "soft" }, "A wrong measurement, or a node unlike its neighbours: check these first."),
    table("Largest errors", [
      { name: "node", text: (l) => l.node, class: "t id" },
      { name: "measured", text: (l) => number(l.value) },
      { name: "predicted", text: (l) => number(l.mean) },
      { name: "error in sd", text: (l) => number(sds(l), 2) },
    ], rows),
  ];
}
