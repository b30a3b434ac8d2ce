// Can I trust it: what was predicted for values that the model did not see.

import { patiently, studyPath } from "./api.js";
import { chart, span } from "./chart.js";
import { h, show, svg, table } from "./dom.js";
import { number, percent, plural } from "./format.js";
import { pendingNote } from "./pending.js";
import { Refresher } from "./refresher.js";

const most = 500; // points in the chart
const surprising = 8; // rows of the table

// What simple rules are called within a sentence.
const rules = { "overall mean": "the overall mean", "nearest measured node": "the nearest measured node", smoothing: "smoothing along the edges" };

export function trustView(context) {
  const element = h("div", { class: "trust-view" }, h("p", { class: "soft", role: "status" }, "Leaving values out and predicting them …"));
  const refresher = new Refresher(async (signal) => {
    const response = await patiently("GET", studyPath(context.name, "calibration"), { signal }, (problem) => pendingNote(element, problem));
    show(element, contents(await response.json()));
  }, (error) => pendingNote(element, error), 2000);
  refresher.refresh();
  return { element, refresh: () => refresher.refresh(), close: () => refresher.close() };
}

function contents(c) {
  return [
    h("section", { class: "card wide" }, h("h2", null, "Can I trust it?"), h("ul", { class: "verdicts" }, verdicts(c).map((v) => h("li", null, v)))),
    h("section", { class: "card" }, h("h2", null, "Left-out predictions"), leftOut(c.left)),
    h("div", { class: "stack" },
      h("section", { class: "card" }, h("h2", null, "Intervals"), coverage(c)),
      h("section", { class: "card" }, h("h2", null, "Error against simple rules"), errors(c))),
    h("section", { class: "card wide" }, h("h2", null, "Largest surprises"), surprises(c.left)),
  ];
}

// verdicts say what the figures mean.
export function verdicts(c) {
  const n = c.left.length;
  const [bestName, bestError] = Object.entries(c.baseline_rmse ?? {}).sort((a, b) => a[1] - b[1])[0] ?? [];
  const said = [];
  if (bestName !== undefined && c.rmse !== null) {
    const gain = 1 - c.rmse / bestError;
    const clear = Math.abs(c.rmse - bestError) > 2 * (c.rmse_se ?? 0);
    if (gain > 0 && clear) said.push(`Predictions of left-out values are ${percent(gain)} closer than ${ruleName(bestName)}, the best simple rule.`);
    else if (gain < 0 && clear) said.push(`Take care: ${ruleName(bestName)} predicts left-out values better than the model.`);
    else said.push(`The model and ${ruleName(bestName)}, the best simple rule, are too close to tell apart by ${plural(n, "value")}.`);
  }
  const at95 = c.coverage?.["0.95"];
  if (Number.isFinite(at95)) {
    const [low, high] = chance(0.95, n);
    if (at95 < low) said.push(`Intervals are too narrow: those of 95 % hold ${percent(at95)} of left-out values.`);
    else if (at95 > high + 1e-9) said.push(`Intervals are wider than need be: those of 95 % hold ${percent(at95)} of left-out values.`);
    else said.push(`Intervals keep their word: those of 95 % hold ${percent(at95)} of left-out values.`);
  }
  if (n < 30) said.push(`${plural(n, "value")} are few: all of this may still change.`);
  return said;
}

function ruleName(name) {
  return rules[name] ?? name;
}

// chance is the range in which a coverage lies with 95 % if the model is right.
function chance(level, n) {
  const room = 1.96 * Math.sqrt((level * (1 - level)) / n) + 0.5 / n;
  return [Math.max(0, level - room), Math.min(1, level + room)];
}

function leftOut(left) {
  const some = left.filter((_, k) => k % Math.ceil(left.length / most) === 0);
  const of = (f) => some.map(f);
  const low = of((l) => l.mean - 1.96 * l.sd), high = of((l) => l.mean + 1.96 * l.sd);
  const range = span(of((l) => l.value), of((l) => l.mean));
  return [
    h("p", { class: "soft" }, "Each value was predicted from the others. Right predictions lie on the line; bars are intervals of 95 % for a reading."),
    chart({
      title: `${plural(some.length, "value")}, predicted without themselves`, xName: "measured", yName: "predicted", x: range, y: span(low, high, range),
      layers: [
        { kind: "rule", class: "diagonal", name: "as measured" },
        { kind: "points", class: "left", name: "left out", x: of((l) => l.value), y: of((l) => l.mean), low, high, titles: of((l) => `${l.node}: measured ${number(l.value)}, predicted ${number(l.mean)}`) },
      ],
    }),
  ];
}

function coverage(c) {
  const levels = ["0.5", "0.8", "0.95"].filter((level) => Number.isFinite(c.coverage?.[level]));
  return [
    h("p", { class: "soft" }, "How many left-out values lie within their intervals. The grey range is what chance allows if the model is right."),
    h("div", { class: "bars" }, levels.map((level) => {
      const share = c.coverage[level];
      const [low, high] = chance(Number(level), c.left.length);
      return bar(`${percent(Number(level))} intervals`, percent(share), share, { low, high, at: Number(level) });
    })),
  ];
}

function errors(c) {
  const others = Object.entries(c.baseline_rmse ?? {}).map(([name, rmse]) => ({ name, rmse, ours: false }));
  const all = [{ name: "the model", rmse: c.rmse, ours: true }, ...others].filter((r) => Number.isFinite(r.rmse)).sort((a, b) => a.rmse - b.rmse);
  const worst = Math.max(...all.map((r) => r.rmse));
  return [
    h("p", { class: "soft" }, "Typical error (root mean square) of predictions of left-out values, in the unit of the measurements; shorter is better."),
    h("div", { class: "bars" }, all.map((r) => bar(r.name, number(r.rmse, 3), r.rmse / worst, { ours: r.ours }))),
  ];
}

// bar is a named share, with a range that it should lie in.
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
    h("p", { class: "soft" }, "An odd reading, or a place unlike its surroundings: look at them again."),
    table("Largest surprises", [
      { name: "node", text: (l) => l.node, class: "t id" },
      { name: "measured", text: (l) => number(l.value) },
      { name: "predicted", text: (l) => number(l.mean) },
      { name: "in sds", text: (l) => number(sds(l), 2) },
    ], rows),
  ];
}
