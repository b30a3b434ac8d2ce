import assert from "node:assert/strict";
import { test } from "node:test";
import { questionOf, shifted } from "../assets/slips.js";

const speeds = { lower999: 0, upper999: 119, lower: 8, upper: 70 };

test("slips get the likely value", () => {
  for (const [value, range, likely] of [
    [4150, speeds, "41.50"], [415, speeds, "41.5"], [-41.5, speeds, "41.5"], [41500, speeds, "41.500"], [0.415, { lower999: 10, upper999: 100 }, "41.5"],
    [1.234, { lower999: 900, upper999: 1500 }, "1234"], [5, { mean: -5, sd: 1 }, "-5"], [-150, { mean: 1.5, sd: 0.3 }, "1.50"],
  ]) assert.equal(questionOf(value, range)?.likely, likely, `${value}`);
});

test("what is outside by little is no question", () => {
  for (const value of [125, 140, -5]) assert.equal(questionOf(value, speeds), null, `${value}`);
  assert.deepEqual(questionOf(8, { lower999: 100, upper999: 101 }), { low: 100, high: 101, likely: null });
});

test("what is expected, or not known, is no question", () => {
  for (const range of [speeds, { mean: 50, sd: 20 }]) for (const value of [0.1, 41.5, 100]) assert.equal(questionOf(value, range), null);
  for (const range of [undefined, {}, { mean: 1 }, { mean: 1, sd: 0 }, { lower999: 2, upper999: 2 }]) assert.equal(questionOf(4150, range), null);
  assert.equal(questionOf(NaN, speeds), null);
});

test("digits stay when the decimal sign moves", () => {
  assert.equal(shifted(4150, -2), "41.50");
  assert.equal(shifted(4150, -5), "0.04150");
  assert.equal(shifted(0.05, 1), "0.5");
  assert.equal(shifted(0.05, 3), "50");
  assert.equal(shifted(-1.5, 1), "-15");
  assert.equal(shifted(7, 2), "700");
});
