import assert from "node:assert/strict";
import { test } from "node:test";

import { count, lasting, number, plural, ticks, until } from "../assets/format.js";

test("numbers have four digits", () => {
  for (const [v, want] of [[0, "0"], [1 / 3, "0.3333"], [-2, "−2"], [1234.56, "1235"], [1e7, "1.000e7"], [-1.5e-6, "−1.500e−6"], [NaN, "–"], [null, "–"]]) {
    assert.equal(number(v), want);
  }
});

test("counts and plurals", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(plural(1, "node"), "1 node");
  assert.equal(plural(2000, "study", "studies"), "2,000 studies");
});

test("times from now", () => {
  const now = Date.parse("2026-01-02T03:04:05Z");
  assert.equal(until("2026-01-02T03:05:05Z", now), "in 60 s");
  assert.equal(until("2026-01-02T01:04:05Z", now), "2 h ago");
  assert.equal(until("never", now), "–");
  assert.equal(lasting("24h0m0s"), "24h");
});

test("ticks are round and within the range", () => {
  assert.deepEqual(ticks(0, 10), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(3, 3), [3]);
});
