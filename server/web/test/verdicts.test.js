import assert from "node:assert/strict";
import { test } from "node:test";

import { chance } from "../assets/chance.js";
import { inShort, ranges, verdicts } from "../assets/verdicts.js";

// figures are those of a cross-validation with n held-out measurements.
function figures(n, coverage, more = {}) {
  return { left: Array.from({ length: n }, () => ({})), coverage, rmse: 2, rmse_se: 0.1, baseline_rmse: { "overall mean": 3, "harmonic interpolation": 2.1 }, ...more };
}

test("the range of chance is that of the binomial distribution", () => {
  assert.deepEqual(chance(0.95, 8), [6 / 8, 1]);
  assert.deepEqual(chance(0.5, 10), [2 / 10, 8 / 10]);
  assert.deepEqual(chance(0.5, 100), [40 / 100, 60 / 100]);
  const [low, high] = chance(0.95, 20_000); // no underflow
  assert.ok(low > 0.946 && high < 0.954, `${low} to ${high}`);
});

test("what is not refuted with few values is not confirmed", () => {
  const c = figures(8, { 0.5: 0.5, 0.8: 0.75, 0.95: 0.75 });
  assert.equal(ranges(c).is, "few");
  assert.match(verdicts(c).join(" "), /Not enough values to tell/);
  assert.doesNotMatch(verdicts(c).join(" "), /hold, as far/);
  assert.equal(inShort(c).trust, "Too early to tell.");
});

test("every level is judged", () => {
  assert.equal(ranges(figures(100, { 0.5: 0.65, 0.8: 0.8, 0.95: 0.95 })).is, "wide");
  const c = figures(100, { 0.5: 0.5, 0.8: 0.6, 0.95: 0.95 });
  assert.equal(ranges(c).is, "narrow");
  assert.match(verdicts(c).join(" "), /Intervals of 80 % are too narrow: 60 % of 100/);
  assert.equal(ranges(figures(100, { 0.5: 0.52, 0.8: 0.81, 0.95: 0.96 })).is, "sound");
});

test("the short verdict compares with the best simple rule", () => {
  const sound = { 0.5: 0.5, 0.8: 0.8, 0.95: 0.95 };
  assert.deepEqual(inShort(figures(60, sound), " mph"), { trust: "Not yet.", words: "Typical miss 2 mph, no better than averaging neighbours (2.1). Ranges hold so far: 95 % of readings fell inside their 95 % range." });
  assert.equal(inShort(figures(60, sound, { rmse: 1 })).trust, "Yes, so far.");
  assert.equal(inShort(figures(60, sound, { rmse: 4 })).trust, "Take care.");
});
