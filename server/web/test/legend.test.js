import assert from "node:assert/strict";
import test from "node:test";

import { ramp } from "../assets/colour.js";
import { beyondOf, endsOf, nameOf } from "../assets/legend.js";
import { roundLength } from "../assets/overlay.js";

test("a scale that leaves out an absurd value says so", () => {
  const scale = { low: 13, high: 120, min: 13, max: 4005, below: 0, above: 3 };
  assert.deepEqual(endsOf(scale, "mean"), ["13", "above 120"]);
  assert.equal(beyondOf(scale), "Outside the colour scale: 3 nodes above, up to 4005.");
  assert.equal(beyondOf({ ...scale, above: 0 }), "");
  assert.deepEqual(endsOf({ low: 0, high: 1 }, "chance"), ["0 %", "100 %"]);
  assert.equal(nameOf("mean", {}, "mph"), "Predicted mean, mph");
});

test("ramps grow lighter from end to end", () => {
  for (const name of ["mean", "sd", "chance"]) {
    const colours = ramp(name);
    let before = 0;
    for (let k = 0; k < colours.length; k += 4) {
      const light = 0.2126 * colours[k] + 0.7152 * colours[k + 1] + 0.0722 * colours[k + 2];
      assert.ok(light >= before - 1.5, `${name} at ${k / 4}: ${light} after ${before}`);
      before = light;
    }
  }
});

test("the scale has round lengths", () => {
  for (const [most, name] of [[1234, "1 km"], [999, "500 m"], [2000, "2 km"], [49, "20 m"], [0.3, "20 cm"], [7_000_000, "5,000 km"]]) assert.equal(roundLength(most).name, name);
  assert.equal(roundLength(0), null);
  assert.equal(roundLength(Infinity), null);
});
