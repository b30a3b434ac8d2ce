// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, { window: { matchMedia: () => ({ matches: false }) } }); // of colour.js
const { classNames, listedClasses, classRamp, classShade, mostColours } = await import("../assets/classes.js");
const { classVerdicts, chanceError } = await import("../assets/class-trust.js");
const { recentlyRight } = await import("../assets/class-progress.js");

// The colour at the place of a class, as the graphics read it.
function colourAt(ramp, shade) {
  const at = 4 * Math.floor(shade * (ramp.length / 4));
  return [...ramp.slice(at, at + 3)];
}

test("a sure class has its own colour, an unsure one is paler, and none has that of another", () => {
  const paper = [1, 1, 1];
  const ramp = classRamp(paper);
  const seen = new Set();
  for (let k = 0; k <= mostColours; k++) {
    const sure = colourAt(ramp, classShade(k, 1, 3));
    const unsure = colourAt(ramp, classShade(k, 0.4, 3));
    assert.ok(unsure.every((v, c) => v >= sure[c]), `${unsure} is not paler than ${sure}`);
    assert.ok(!seen.has(String(sure)) && !seen.has(String(unsure)));
    seen.add(String(sure)).add(String(unsure));
  }
  assert.equal(classShade(40, 1, 50), classShade(mostColours, 1, 50)); // all others share one
  assert.deepEqual(colourAt(ramp, classShade(1, 0.1, 3)), colourAt(ramp, classShade(1, 1 / 3, 3)));
});

const score = (accuracy) => ({ accuracy, accuracy_se: 0.05, nll: 1, ece: 0.02 });
const labels = (n) => Array.from({ length: n }, (_, k) => ({ node: String(k), class: "a", predicted: "a", probability: 0.9, chance: 0.9 }));

test("verdicts compare with the best simple rule, and do not judge probabilities of few labels", () => {
  const c = { ...score(0.9), classes: ["a", "b"], scheme: "", baselines: { "majority class": score(0.5), "label spreading": score(0.6) }, confusion: [], reliability: [{ count: 12, confidence: 0.9, accuracy: 0.9 }], left: labels(12) };
  const few = classVerdicts(c);
  assert.match(few[0], /12 labels.* 90 % are right/);
  assert.match(few[1], /clearly better than label spreading.*60 %/);
  assert.match(few[2], /not enough labels/);
  assert.match(classVerdicts({ ...c, accuracy: 0.3 })[1], /Take care/);
  assert.match(classVerdicts({ ...c, accuracy: 0.62 })[1], /does not differ clearly/);
  const many = { ...c, left: labels(100), reliability: [{ count: 100, confidence: 0.9, accuracy: 0.7 }], ece: 0.2 };
  assert.match(classVerdicts(many)[2], /more than chance explains/);
  assert.match(classVerdicts({ ...many, ece: 0.02 })[2], /chance can explain/);
  assert.ok(chanceError(many) > 0.02 && chanceError(many) < 0.1);
});

test("the share that was expected counts suggested nodes only", () => {
  const points = [{ observation: 1, node: "x", class: "a" }, ...["a", "b", "a", "a"].map((expected, k) => ({ observation: k + 2, node: String(k), class: "a", expected }))];
  assert.deepEqual(recentlyRight(points, 3), [{ at: 4, share: 2 / 3 }, { at: 5, share: 2 / 3 }]);
  assert.deepEqual(recentlyRight(points.slice(0, 2), 3), []);
});

test("a list of classes has commas", () => {
  assert.deepEqual(listedClasses(" oak, red beech ,,pine"), ["oak", "red beech", "pine"]);
  assert.deepEqual(listedClasses(" "), []);
});

test("classes are those of the settings, or those told", () => {
  assert.deepEqual(classNames({ settings: { classes: ["x", "y"] }, classes: [{ class: "y" }] }), ["x", "y"]);
  assert.deepEqual(classNames({ settings: {}, classes: [{ class: "y" }] }), ["y"]);
});

test("the style sheet has the colours of the map", async () => {
  const { readFile } = await import("node:fs/promises");
  const css = await readFile(new URL("../assets/app.css", import.meta.url), "utf8");
  const ramp = classRamp([1, 1, 1]);
  for (let k = 0; k <= mostColours; k++) {
    const hex = colourAt(ramp, classShade(k, 1, 3)).map((v) => v.toString(16).padStart(2, "0")).join("");
    assert.ok(css.includes(`--class-${k}: #${hex};`), `class ${k} is ${hex}`);
    assert.ok(css.includes(`.class-${k} {`));
  }
});
