// @ts-check
// Two studies side by side.

import { get, patiently, studyPath } from "./api.js";
import { chart, span } from "./chart.js";
import { field, h, show, table } from "./dom.js";
import { number, percent, rate } from "./format.js";
import { address } from "./route.js";
import { goalName } from "./study.js";
import { verdicts } from "./verdicts.js";

export async function comparePage(first, second) {
  const studies = (await get("/v1/studies")).studies.filter((s) => !s.problem);
  document.title = "Compare · grfgp";
  const chosen = pair(studies, first, second);
  const body = h("div", { class: "compare-view" });
  const choose = (k) => h("select", {
    id: `compare-${k}`,
    onchange: (e) => {
      chosen[k] = e.target.value;
      history.replaceState(null, "", address("compare", ...chosen));
      fillIn(body, chosen);
    },
  }, studies.map((s) => h("option", { value: s.name, selected: s.name === chosen[k] }, s.name)));
  if (studies.length < 2) {
    show(body, h("p", { class: "card soft" }, "Comparing needs two studies."));
    return h("div", null, h("h1", null, "Compare"), body);
  }
  fillIn(body, chosen);
  return h("div", null, h("h1", null, "Compare"), h("div", { class: "fields card" }, field("First study", choose(0)), field("Second study", choose(1))), body);
}

// pair chooses two studies that say something beside each other: of the same goal and network if
// there are two, with measurements, and those that changed last.
export function pair(studies, first, second) {
  const alike = (a, b) => (a.settings.goal === b.settings.goal ? 2 : 0) + (a.settings.graph === b.settings.graph ? 1 : 0);
  const measured = (s) => (s.values > 0 ? 1 : 0);
  const ranked = [...studies].sort((a, b) => measured(b) - measured(a) || Date.parse(b.updated) - Date.parse(a.updated));
  const one = ranked.find((s) => s.name === first) ?? ranked.find((s) => ranked.some((t) => t !== s && t.values > 0 && alike(s, t) === 3)) ?? ranked[0];
  const others = ranked.filter((s) => s !== one && s.name !== first);
  const best = others.sort((a, b) => measured(b) - measured(a) || alike(one, b) - alike(one, a))[0];
  return [first ?? one?.name, second ?? best?.name];
}

// fillIn loads and shows both studies, without parts that are not available yet.
async function fillIn(body, chosen) {
  show(body, h("p", { class: "soft", role: "status" }, "Loading …"));
  const names = [...chosen];
  const sides = await Promise.all(names.map(load));
  if (names.every((n, k) => n === chosen[k])) show(body, contents(sides));
}

async function load(name) {
  const maybe = async (path) => {
    try {
      return await (await patiently("GET", studyPath(name, path))).json();
    } catch {
      return null;
    }
  };
  const [study, history, calibration] = await Promise.all([get(studyPath(name)).catch(() => null), maybe("history"), maybe("calibration")]);
  return { name, study, history, calibration };
}

function contents(sides) {
  const missing = sides.find((s) => s.study === null);
  if (missing) return h("p", { class: "card refusal", role: "alert" }, `The study ${missing.name} cannot be read.`);
  return [
    h("section", { class: "card wide" }, h("h2", null, "Best so far"), bestChart(sides)),
    h("section", { class: "card wide" }, h("h2", null, "Side by side"), figures(sides)),
  ];
}

function bestChart(sides) {
  const goals = sides.map((s) => s.study.settings.goal);
  const searching = goals.every((g) => g === goals[0]) && /^m/.test(goals[0]);
  if (!searching) return h("p", { class: "soft" }, "Best values can be compared only between two studies that both maximize or both minimize.");
  const lines = sides.map((s, k) => ({ kind: "steps", class: k === 0 ? "best" : "second", name: s.name, points: s.history?.points ?? [] })).filter((l) => l.points.length > 0);
  if (lines.length === 0) return h("p", { class: "soft" }, "Neither study has a measurement yet.");
  for (const line of lines) {
    line.x = line.points.map((_, k) => k + 1);
    line.y = line.points.map((p) => p.best);
  }
  const longest = Math.max(...lines.map((l) => l.x.length));
  return chart({ title: `Best value after each measurement (${goalName(goals[0])})`, xName: "measurements", yName: "best value", x: [0.5, longest + 0.5], y: span(...lines.map((l) => l.y)), layers: lines });
}

function figures(sides) {
  const of = (name, text) => ({ name, cells: sides.map(text) });
  const rows = [
    of("goal", ({ study }) => goalName(study.settings.goal)),
    of("network", ({ study }) => study.settings.graph.slice(0, 12)),
    of("status", ({ study }) => study.status),
    of("measurements", ({ study }) => number(study.values)),
    of("pending", ({ study }) => number(study.trials.pending)),
    of("spent", ({ study }) => number(study.spent)),
    of("best", ({ study }) => (study.best ? `${number(rate(study.best))} at ${study.best.node}` : "–")),
    of("error on held-out measurements (RMSE)", ({ calibration: c }) => number(c?.rmse, 3)),
    of("error of the best baseline (RMSE)", ({ calibration: c }) => (c?.baseline_rmse ? number(Math.min(...Object.values(c.baseline_rmse)), 3) : "–")),
    ...(sides.some((s) => s.study.settings.labels) ? [of("labels predicted rightly from the others", ({ calibration: c }) => percent(c?.accuracy))] : []),
    of("coverage of 95 % intervals", ({ calibration: c }) => percent(c?.coverage?.["0.95"])),
    of("verdict", ({ calibration: c }) => (c ? verdicts(c)[0] ?? "–" : "no model yet")),
  ];
  return table("Both studies", [
    { name: "of", text: (r) => r.name, class: "w" },
    ...sides.map((s, k) => ({ name: s.name, text: (r) => r.cells[k], class: "t" })),
  ], rows);
}
