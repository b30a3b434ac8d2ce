import assert from "node:assert/strict";
import { test } from "node:test";

import { endedWords, placeOf, rangeWords, untilWords } from "../assets/card-words.js";

test("what became of a trial", () => {
  for (const [trial, want] of [
    [{ state: "pending", until: "2999-01-01T00:00:00Z" }, ""],
    [{ state: "pending", until: "2000-01-01T00:00:00Z" }, "The reservation has ended. Your result still counts."],
    [{ state: "done", value: 35.5, by: "anna" }, "Saved by anna: 35.5 mph."],
    [{ state: "done", value: 35.5, note: "windy" }, "Saved by somebody: 35.5 mph (“windy”)."],
    [{ state: "failed", by: "anna", note: "gate locked" }, "Anna could not measure here: “gate locked”."],
    [{ state: "released", by: "anna" }, "Anna gave this node back. Your result still counts."],
  ]) assert.equal(endedWords(trial, { status: "open" }, { unit: "mph" }), want);
  assert.match(endedWords({ state: "pending", until: "2999-01-01" }, { status: "closed" }, {}), /closed.*still taken/);
});

test("until when a node is reserved", () => {
  const now = new Date(2026, 10, 16, 12, 0);
  assert.equal(untilWords(new Date(2026, 10, 16, 19, 7), now), "reserved until 19:07");
  assert.equal(untilWords(new Date(2026, 10, 17, 9, 5), now), "reserved until tomorrow 09:05");
  assert.match(untilWords(new Date(2026, 11, 24, 9, 5), now), /24 Dec, 09:05$/);
  assert.equal(untilWords(new Date(2026, 10, 16, 11, 0), now), "the reservation has ended; a result still counts");
  assert.equal(untilWords("never", now), "");
});

test("where a node is", () => {
  const at = { lat: 37.258, lon: -121.954, node: "400240", label: "Detector & co" };
  assert.deepEqual(placeOf(at, false), { text: "37.25800, -121.95400", href: "geo:37.25800,-121.95400?q=37.25800,-121.95400(Detector%20%26%20co)" });
  assert.equal(placeOf(at, true).href, "maps:?ll=37.25800,-121.95400&q=Detector%20%26%20co");
  assert.deepEqual(placeOf({ x: 1.5, y: -2, node: "n" }, false), { text: "1.5, −2", href: null });
  assert.equal(placeOf({ node: "n" }, false), null);
});

test("what is expected", () => {
  assert.equal(rangeWords({ lower: 0, upper: 119.2 }, { unit: "mph" }), "Expect 0 to 119 mph");
  assert.equal(rangeWords({ mean: 10, sd: 1 }, {}), "Expect 8.04 to 12");
  assert.equal(rangeWords({ expected: "oak", probability: 0.62 }, {}), "Expect oak, 62 %");
  assert.equal(rangeWords({}, {}), "");
});
