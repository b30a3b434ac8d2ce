import assert from "node:assert/strict";
import { test } from "node:test";

import { bytes, columnsOf, ledgerOf, questionWords, sentence } from "../assets/words.js";

test("a distance is a question in plain words", () => {
  const { text, ask, choices } = questionWords({
    file: "edges", code: "ambiguous", text: "column length_m looks like a distance; as a weight it would make distant nodes similar",
    choices: ["similarity", "distance", "ignore"].map((value) => ({ text: "…", set: [{ option: "weights", value }] })),
  });
  assert.equal(text, "Column length_m looks like a distance; as a weight it would make distant nodes similar.");
  assert.equal(ask, "What do the numbers mean?");
  assert.match(choices[1].text, /^Distance: the larger/);
});

test("a column is chosen by its name", () => {
  const { ask, choices } = questionWords({ file: "measurements", code: "ambiguous", text: "the value may be a or b", choices: ["a", "b"].map((value) => ({ text: "say which", set: [{ option: "columns", role: "value", value }] })) });
  assert.equal(ask, "Which column holds the measured values?");
  assert.deepEqual(choices.map((c) => c.text), ["a", "b"]);
  const open = questionWords({ file: "costs", code: "content", text: "there is no column of costs", choices: [{ text: "name it", set: [{ option: "columns", role: "cost", value: "" }] }] });
  assert.equal(open.choices[0].open, "cost");
});

test("bad rows have a place", () => {
  const { text, ask, choices, advice } = questionWords({ file: "measurements", code: "row", line: 1203, column: 4, text: "value \"abc\" is not a number", advice: ["correct the line"], choices: [{ text: "leave such rows out", set: [{ option: "bad_rows", value: "skip" }] }] });
  assert.equal(text, "Line 1,203, character 4: value \"abc\" is not a number.");
  assert.equal(ask, "What should happen to these rows?");
  assert.equal(choices[0].text, "Leave these rows out");
  assert.deepEqual(advice, ["Correct the line."]);
});

test("no advice for another program", () => {
  for (const a of ["convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW", "name another file", "name a file of text: delimited columns, MatrixMarket or GraphML", "convert it: tr '\\r' '\\n' < FILE > NEW"]) {
    assert.doesNotMatch(questionWords({ file: "edges", code: "format", text: "x", advice: [a] }).advice[0], /iconv|FILE|name a|--/);
  }
});

test("every line of a file is accounted for", () => {
  assert.equal(ledgerOf({ ledger: { unit: "lines", total: 6, header: 1, edges: 4, blank: 1, bad: 0 } }), "6 lines: 1 header, 4 edges, 1 blank");
  assert.equal(ledgerOf({ ledger: { unit: "lines", total: 1, rows: 1 } }), "1 line: 1 used");
});

test("columns are those that are used, and the others", () => {
  assert.deepEqual(columnsOf({ ledger: {}, columns: [{ role: "value", number: 2, name: "speed", why: "" }, { role: "node", number: 1, why: "" }], unused_columns: ["hour"] }), ["1", "speed", "hour"]);
});

test("sizes and sentences", () => {
  assert.deepEqual([bytes(12), bytes(1234), bytes(45_600_000), bytes(2 ** 30)], ["12 bytes", "1.2 kB", "46 MB", "1.1 GB"]);
  assert.equal(sentence("it is so"), "It is so.");
  assert.equal(sentence("Is it?"), "Is it?");
});
