import assert from "node:assert/strict";
import { test } from "node:test";
import { negated, parseNumber } from "../assets/numbers.js";

test("numbers of every keypad", () => {
  for (const [typed, want] of [
    ["41.5", 41.5], ["41,5", 41.5], [" 7 ", 7], ["-2", -2], ["−2,25", -2.25], ["–3", -3], ["+4", 4], [".5", 0.5], [",5", 0.5], ["5.", 5], ["5,", 5],
    ["1.5e6", 1.5e6], ["1,5E-3", 0.0015], ["1.234,5", 1234.5], ["1,234.5", 1234.5], ["1,234,567", 1234567], ["1.234.567", 1234567], ["1 234,5", 1234.5],
    ["1 234 567", 1234567], ["1'234.5", 1234.5], ["1,234", 1.234], ["٤١٫٥", 41.5], ["۴۱", 41], ["0", 0], ["-0,5", -0.5], ["007", 7],
  ]) assert.equal(parseNumber(typed), want, typed);
});

test("what is no number is said", () => {
  for (const typed of ["", "  ", "abc", "1,2,3", "1.2.3", "12 34", "1,23.4,5", "4-1", "--1", "1e", "e5", ".", ",", "-", "1e999", "0x10", "NaN", "Infinity", "1,23,456"]) {
    assert.throws(() => parseNumber(typed), (error) => typeof error.title === "string", typed);
  }
});

test("the key for the sign", () => {
  assert.equal(negated("41,5"), "-41,5");
  assert.equal(negated("-41,5"), "41,5");
  assert.equal(negated("−3"), "3");
  assert.equal(negated(""), "-");
  assert.equal(negated("-"), "");
  assert.equal(negated("+3"), "-3");
});
