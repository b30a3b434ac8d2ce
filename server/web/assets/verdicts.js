// @ts-check
// What the figures of a cross-validation mean, in words.

import { chance } from "./chance.js";
import { number, percent, plural } from "./format.js";

export const levels = ["0.5", "0.8", "0.95"]; // of credible intervals
const few = 30; // left-out measurements with which a wrong model is easily missed

// Names of baselines within a sentence.
const rules = {
  "overall mean": "the overall mean",
  "nearest measured node": "the nearest measured node",
  "harmonic interpolation": "averaging neighbours",
  "graph ridge": "a smooth function of the network",
  "least squares on covariates": "a linear function of the covariates",
  "ridge on singular vectors": "a linear regression on the links of each node",
};

// bestRule is the baseline of the smallest error; null if there is none.
function bestRule(c) {
  const [name, error] = Object.entries(c.baseline_rmse ?? {}).filter(([, e]) => Number.isFinite(e)).sort((a, b) => a[1] - b[1])[0] ?? [];
  return name === undefined || !Number.isFinite(c.rmse) ? null : { name: rules[name] ?? name, error };
}

// accuracy compares the model with the best baseline: better, worse or neither.
function accuracy(c) {
  const rule = bestRule(c);
  if (!rule) return { is: "unknown" };
  const clear = Math.abs(c.rmse - rule.error) > 2 * (c.rmse_se ?? 0);
  return { is: !clear ? "neither" : c.rmse < rule.error ? "better" : "worse", rule };
}

// ranges judges the credible intervals of every level: narrow, wide, sound, or too few values to
// tell. at is the level by which they are judged.
export function ranges(c) {
  const n = c.left.length;
  const judged = levels.filter((level) => Number.isFinite(c.coverage?.[level])).map((level) => {
    const share = c.coverage[level];
    const [low, high] = chance(Number(level), n);
    return { level: Number(level), share, low, high, is: share < low - 1e-9 ? "narrow" : share > high + 1e-9 ? "wide" : "sound" };
  });
  const wrong = judged.filter((j) => j.is !== "sound");
  const at = wrong.find((j) => j.is === "narrow") ?? wrong[0] ?? judged[judged.length - 1];
  return { n, judged, wrong, at, is: !at ? "unknown" : wrong.length > 0 ? at.is : n < few ? "few" : "sound" };
}

// verdicts interpret the figures, a sentence each.
export function verdicts(c) {
  const said = [];
  const n = c.left.length;
  const a = accuracy(c);
  if (a.rule && a.is === "better") said.push(`The error on held-out measurements is ${percent(1 - c.rmse / a.rule.error)} lower than that of ${a.rule.name}, the best simple rule.`);
  if (a.rule && a.is === "worse") said.push(`Caution: ${a.rule.name} predicts held-out measurements better than the model.`);
  if (a.rule && a.is === "neither") said.push(`With ${plural(n, "measurement")}, the errors of the model and of ${a.rule.name}, the best simple rule, do not differ clearly.`);
  said.push(...rangeVerdicts(ranges(c)));
  if (n < few) said.push(`There are only ${plural(n, "measurement")}: these results may still change.`);
  return said;
}

function rangeVerdicts(r) {
  const inside = (j) => `${percent(j.share)} of ${plural(r.n, "held-out measurement")} are inside their ${percent(j.level)} intervals`;
  switch (r.is) {
    case "unknown":
      return [];
    case "few":
      return [`Not enough values to tell whether the intervals are right: ${inside(r.at)}, and chance alone could give ${percent(r.at.low)} to ${percent(r.at.high)}.`];
    case "sound":
      return [`The intervals hold, as far as ${plural(r.n, "measurement")} can tell: ${r.judged.map((j) => `${percent(j.share)} are inside those of ${percent(j.level)}`).join(", ")}.`];
  }
  return r.wrong.map((j) => `Intervals of ${percent(j.level)} are too ${j.is}: ${inside(j)}; right ones would hold ${percent(j.low)} to ${percent(j.high)}.`);
}

// inShort is the verdict for those who are busy: { trust, words }.
export function inShort(c, unit = "") {
  if (c.classes) return classesInShort(c);
  const a = accuracy(c), r = ranges(c);
  const few = r.is === "few" || r.is === "unknown";
  const trust = a.is === "worse" || r.is === "narrow" ? "Take care." : a.is === "better" && !few ? "Yes, so far." : few ? "Too early to tell." : "Not yet.";
  const words = [];
  if (Number.isFinite(c.rmse)) {
    const beside = { better: "better than", worse: "worse than", neither: "no better than" }[a.is];
    words.push(`Typical miss ${number(c.rmse, 2)}${unit}${beside && a.rule ? `, ${beside} ${a.rule.name} (${number(a.rule.error, 2)})` : ""}.`);
  }
  if (r.is === "few") words.push(`Not enough values to judge the ranges.`);
  else if (r.is !== "unknown") {
    const held = `${percent(r.at.share)} of readings fell inside their ${percent(r.at.level)} range.`;
    words.push(`${{ narrow: "Ranges are too narrow", wide: "Ranges are wider than need be", sound: "Ranges hold so far" }[r.is]}: ${held}`);
  }
  return { trust, words: words.join(" ") };
}

// classesInShort is inShort of a study of classes.
function classesInShort(c) {
  const n = c.left.length;
  const [, best] = Object.entries(c.baselines ?? {}).sort((a, b) => b[1].accuracy - a[1].accuracy)[0] ?? [];
  const room = best ? 2 * Math.hypot(c.accuracy_se, best.accuracy_se) : Infinity;
  const ahead = best && c.accuracy - best.accuracy > room, behind = best && best.accuracy - c.accuracy > room;
  return {
    trust: behind ? "Take care." : n < few ? "Too early to tell." : ahead ? "Yes, so far." : "Not yet.",
    words: `Right at ${percent(c.accuracy)} of ${plural(n, "held-out node")}${best ? `; the best simple rule is right at ${percent(best.accuracy)}` : ""}.`,
  };
}
