// @ts-check
// Progress: the best value so far beside that of a random search, and each
// measurement beside its prediction.

import { patiently, studyPath } from "./api.js";
import { chart, span } from "./chart.js";
import { classProgress } from "./class-progress.js";
import { h, show } from "./dom.js";
import { number, plural, rate, uncertainty } from "./format.js";
import { pendingNote } from "./pending.js";
import { Refresher } from "./refresher.js";

const most = 600; // points in a chart
const lately = 10; // predictions that the error is averaged over

export function progressView(context) {
  const element = h("div", { class: "progress-view" }, h("p", { class: "soft", role: "status" }, "Loading …"));
  const refresher = new Refresher(async (signal) => {
    const response = await patiently("GET", `${studyPath(context.name, "history")}?random=yes`, { signal }, (problem) => pendingNote(element, problem));
    const history = await response.json();
    const { settings, classes } = context.study;
    show(element, settings.labels ? classProgress(history.points, classes ?? []) : contents(history, uncertainty(settings.spec)));
  }, (error) => pendingNote(element, error), 1000);
  refresher.refresh();
  return { element, refresh: () => refresher.refresh(), close: () => refresher.close() };
}

function contents({ goal, points, before, random }, shown) {
  points = points.map((p) => ({ ...p, value: rate(p) }));
  if (points.length === 0) return h("p", { class: "card soft" }, "No measurements yet. Results appear here when they arrive.");
  const searched = goal === "maximize" || goal === "minimize";
  return [searched ? bestChart(goal, points, before, random) : errorChart(points), expectedChart(points, shown)];
}

// bestChart shows the best value after each measurement. The search begins with the first ask.
function bestChart(goal, points, before, random) {
  const x = points.map((_, k) => k + 1);
  const since = x.slice(before);
  const best = points.map((p) => p.best);
  const some = thin(points);
  const layers = [
    random && { kind: "band", class: "random", name: "random search simulated with the current model, 10 % to 90 %", x: since, low: random.low, high: random.high },
    random && { kind: "line", class: "random", name: "random search, median", x: since, y: random.middle },
    { kind: "points", class: "values", name: "value", x: some.map((k) => k + 1), y: some.map((k) => points[k].value), titles: some.map((k) => title(points[k])) },
    { kind: "steps", class: "best", name: "best so far", x, y: best },
  ].filter(Boolean);
  const last = points[points.length - 1];
  const word = goal === "maximize" ? "Highest" : "Lowest";
  const winner = points.find((p) => p.value === last.best);
  return h("section", { class: "card" },
    h("h2", null, `${word} value so far: ${number(last.best)} at `, h("span", { class: "id" }, winner.node)),
    h("p", { class: "soft" }, verdict(goal, points, before, random)),
    chart({ title: `Best of ${plural(points.length, "measurement")}`, xName: "measurements", yName: "value", x: [0.5, points.length + 0.5], y: span(points.map((p) => p.value), random?.low ?? [], random?.high ?? []), layers }));
}

// verdict judges the search alone: what was measured before the first ask is where it started.
function verdict(goal, points, before, random) {
  const searched = points.length - before;
  const started = before > 0 ? ` that starts from the ${plural(before, "value")} known before` : "";
  if (searched === 0) return "Every value was there before anybody asked for a suggestion, so there is no search to judge yet.";
  if (!random) return "A comparison with random search needs a model.";
  const k = searched - 1;
  const { best } = points[points.length - 1];
  const ahead = goal === "maximize" ? best > random.high[k] : best < random.low[k];
  const behind = goal === "maximize" ? best < random.low[k] : best > random.high[k];
  const search = `random searches with ${plural(searched, "measurement")}${started}`;
  if (ahead) return `Better than 90 % of ${search}.`;
  if (behind) return `Worse than 90 % of ${search}.`;
  if (before > 0 && best === points[before - 1].best) return `The best value was there before the first suggestion. ${plural(searched, "measurement")} since then found none better.`;
  return `Not clearly different from ${search}.`;
}

// expectedChart shows measurements beside the predictions made when their nodes were suggested.
function expectedChart(points, { sds, name }) {
  const asked = points.map((p, k) => k).filter((k) => Number.isFinite(points[k].mean));
  if (asked.length === 0) {
    return h("section", { class: "card" }, h("h2", null, "Predicted and measured"),
      h("p", { class: "soft" }, "No suggestion with a prediction has been measured yet."));
  }
  const some = asked.filter((_, i) => i % Math.ceil(asked.length / most) === 0);
  const of = (f) => some.map((k) => f(points[k]));
  const low = of((p) => p.mean - sds * p.sd), high = of((p) => p.mean + sds * p.sd);
  return h("section", { class: "card" },
    h("h2", null, "Predicted and measured"),
    h("p", { class: "soft" }, `Bars are ${name} at the time of the suggestion; points are the measurements. As the model learns, the bars become shorter.`),
    chart({
      title: `${plural(some.length, "suggested measurement")}`, xName: "measurements", yName: "value", x: [some[0] + 0.5, points.length + 0.5], y: span(low, high, of((p) => p.value)),
      layers: [
        { kind: "points", class: "expected", name: "predicted", x: some.map((k) => k + 1), y: of((p) => p.mean), low, high },
        { kind: "points", class: "values", name: "measured", x: some.map((k) => k + 1), y: of((p) => p.value), titles: of(title) },
      ],
    }));
}

// errorChart shows the root mean square error of recent predictions.
function errorChart(points) {
  const asked = points.map((_, k) => k).filter((k) => Number.isFinite(points[k].mean));
  if (asked.length < lately) return null;
  const x = asked.slice(lately - 1);
  const y = x.map((_, i) => Math.sqrt(asked.slice(i, i + lately).reduce((sum, k) => sum + (points[k].value - points[k].mean) ** 2, 0) / lately));
  return h("section", { class: "card" },
    h("h2", null, `Root mean square error of the last ${lately} predictions: ${number(y[y.length - 1], 3)}`),
    h("p", { class: "soft" }, "Suggested nodes are the most uncertain ones, so this error falls more slowly than the error over all nodes."),
    chart({ title: `Error over ${lately} predictions, each made before its measurement`, xName: "measurements", yName: "error", x: [x[0] + 0.5, points.length + 0.5], y: [0, Math.max(...y) * 1.08 || 1],
      layers: [{ kind: "line", class: "best", name: "error", x: x.map((k) => k + 1), y }] }));
}

function title(p) {
  return `${p.node}: ${number(p.value)}`;
}

// thin returns the indices of at most about most points, each new best included.
function thin(points) {
  const step = Math.ceil(points.length / most);
  return points.map((_, k) => k).filter((k) => k % step === 0 || points[k].best !== points[k - 1]?.best);
}
