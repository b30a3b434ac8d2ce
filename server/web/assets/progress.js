// Progress: the best so far beside a search at random, and what was expected of
// each value.

import { patiently, studyPath } from "./api.js";
import { chart, span } from "./chart.js";
import { h, show } from "./dom.js";
import { number, plural } from "./format.js";
import { pendingNote } from "./pending.js";
import { Refresher } from "./refresher.js";

const most = 600; // points in a chart
const lately = 10; // values that an error is taken over

export function progressView(context) {
  const element = h("div", { class: "progress-view" }, h("p", { class: "soft", role: "status" }, "Loading …"));
  const refresher = new Refresher(async (signal) => {
    const response = await patiently("GET", `${studyPath(context.name, "history")}?random=yes`, { signal }, (problem) => pendingNote(element, problem));
    show(element, contents(await response.json()));
  }, (error) => pendingNote(element, error), 1000);
  refresher.refresh();
  return { element, refresh: () => refresher.refresh(), close: () => refresher.close() };
}

function contents({ goal, points, random }) {
  if (points.length === 0) return h("p", { class: "card soft" }, "No value yet. Results appear here as they come.");
  const searched = goal === "maximize" || goal === "minimize";
  return [searched ? bestChart(goal, points, random) : errorChart(points), expectedChart(points)];
}

// bestChart shows the best value after each measurement.
function bestChart(goal, points, random) {
  const x = points.map((_, k) => k + 1);
  const best = points.map((p) => p.best);
  const some = thin(points);
  const layers = [
    random && { kind: "band", class: "random", name: "random search, by what is now expected: 10 % to 90 %", x, low: random.low, high: random.high },
    random && { kind: "line", class: "random", name: "random search, median", x, y: random.middle },
    { kind: "points", class: "values", name: "value", x: some.map((k) => k + 1), y: some.map((k) => points[k].value), titles: some.map((k) => title(points[k])) },
    { kind: "steps", class: "best", name: "best so far", x, y: best },
  ].filter(Boolean);
  const last = points[points.length - 1];
  const word = goal === "maximize" ? "Highest" : "Lowest";
  const winner = points.find((p) => p.value === last.best);
  return h("section", { class: "card" },
    h("h2", null, `${word} value so far: ${number(last.best)} at `, h("span", { class: "id" }, winner.node)),
    h("p", { class: "soft" }, verdict(goal, points, random)),
    chart({ title: `Best of ${plural(points.length, "value")}`, xName: "measurements", yName: "value", x: [0.5, points.length + 0.5], y: span(points.map((p) => p.value), random?.low ?? [], random?.high ?? []), layers }));
}

function verdict(goal, points, random) {
  if (!random) return "A comparison with random search follows once there is a model.";
  const k = points.length - 1;
  const ahead = goal === "maximize" ? points[k].best > random.high[k] : points[k].best < random.low[k];
  const behind = goal === "maximize" ? points[k].best < random.low[k] : points[k].best > random.high[k];
  if (ahead) return `Better than nine of ten random searches of ${plural(points.length, "measurement")} would be.`;
  if (behind) return `Worse than nine of ten random searches of ${plural(points.length, "measurement")} would be.`;
  return `As good as a random search of ${plural(points.length, "measurement")} may be by luck.`;
}

// expectedChart shows values beside what was predicted when they were asked for.
function expectedChart(points) {
  const asked = points.map((p, k) => k).filter((k) => Number.isFinite(points[k].mean));
  if (asked.length === 0) {
    return h("section", { class: "card" }, h("h2", null, "Expected and measured"),
      h("p", { class: "soft" }, "No value was asked for with a prediction yet."));
  }
  const some = asked.filter((_, i) => i % Math.ceil(asked.length / most) === 0);
  const of = (f) => some.map((k) => f(points[k]));
  const low = of((p) => p.mean - 1.96 * p.sd), high = of((p) => p.mean + 1.96 * p.sd);
  return h("section", { class: "card" },
    h("h2", null, "Expected and measured"),
    h("p", { class: "soft" }, "Bars are intervals of 95 % for the quantity, as predicted when the node was handed out; points are what was measured then. Where the search works, bars grow shorter."),
    chart({
      title: `${plural(some.length, "value")} that were asked for`, xName: "measurements", yName: "value", x: [some[0] + 0.5, points.length + 0.5], y: span(low, high, of((p) => p.value)),
      layers: [
        { kind: "points", class: "expected", name: "expected", x: some.map((k) => k + 1), y: of((p) => p.mean), low, high },
        { kind: "points", class: "values", name: "measured", x: some.map((k) => k + 1), y: of((p) => p.value), titles: of(title) },
      ],
    }));
}

// errorChart shows how far predictions were off, over the last so many values.
function errorChart(points) {
  const asked = points.map((_, k) => k).filter((k) => Number.isFinite(points[k].mean));
  if (asked.length < lately) return null;
  const x = asked.slice(lately - 1);
  const y = x.map((_, i) => Math.sqrt(asked.slice(i, i + lately).reduce((sum, k) => sum + (points[k].value - points[k].mean) ** 2, 0) / lately));
  return h("section", { class: "card" },
    h("h2", null, `Typical error of the last ${lately} predictions: ${number(y[y.length - 1], 3)}`),
    h("p", { class: "soft" }, "Nodes are chosen where least is known, so this falls more slowly than the error on the map."),
    chart({ title: `Root mean square over ${lately} values, made before each was measured`, xName: "measurements", yName: "error", x: [x[0] + 0.5, points.length + 0.5], y: [0, Math.max(...y) * 1.08 || 1],
      layers: [{ kind: "line", class: "best", name: "error", x: x.map((k) => k + 1), y }] }));
}

function title(p) {
  return `${p.node}: ${number(p.value)}`;
}

// thin returns the numbers of some points: every so manieth, and each new best.
function thin(points) {
  const step = Math.ceil(points.length / most);
  return points.map((_, k) => k).filter((k) => k % step === 0 || points[k].best !== points[k - 1]?.best);
}
