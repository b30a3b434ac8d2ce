// The legend of the map: colours of values, marks of states.

import { rampStops } from "./colour.js";
import { h, svg } from "./dom.js";
import { number } from "./format.js";
import { abandoned, forbidden, measured, pending, suggested } from "./scene.js";

const names = {
  mean: "Predicted mean, in the unit of the measurements",
  sd: "Standard deviation of the prediction, in the unit of the measurements",
};

const marks = [[measured, "measured"], [pending, "pending"], [suggested, "next suggestion"], [abandoned, "abandoned"], [forbidden, "not allowed"]];

const always = measured | pending | suggested;

// legend explains a map that is coloured by mean or sd; rare marks only where
// they occur.
export function legend(by, head, flags) {
  const seen = flags.reduce((all, f) => all | f, always);
  return [head.model && bar(by, head.range[by]), h("ul", { class: "legend" }, marks.filter(([flag]) => flag & seen).map(([flag, name]) => h("li", null, mark(flag), name)))];
}

function bar(by, [low, high]) {
  const stops = rampStops(by);
  const gradient = svg("linearGradient", { id: "ramp" }, stops.map((colour, k) => svg("stop", { offset: k / (stops.length - 1), "stop-color": colour })));
  return h("div", { class: "ramp" },
    h("span", { class: "ramp-name" }, names[by]),
    h("div", { class: "ramp-bar" },
      h("span", null, number(low)),
      svg("svg", { height: 14, preserveAspectRatio: "none", viewBox: "0 0 100 14", role: "img", "aria-label": `from ${number(low)} to ${number(high)}` },
        svg("defs", null, gradient), svg("rect", { width: 100, height: 14, fill: "url(#ramp)" })),
      h("span", null, number(high))));
}

// mark draws what the map shows at a node of this state.
function mark(flag) {
  const circle = (name) => svg("circle", { class: name, cx: 9, cy: 9, r: 6 });
  const shapes = {
    [measured]: () => [circle("mark outlined")],
    [pending]: () => [circle("mark outlined"), svg("path", { class: "mark stripes", d: "M4 10 L10 4 M5.5 13.5 L13.5 5.5 M9 14.5 L14.5 9" })],
    [suggested]: () => [svg("path", { class: "mark outlined", d: "M9 1.5 L11.2 6.6 L16.7 7.1 L12.5 10.7 L13.8 16.1 L9 13.2 L4.2 16.1 L5.5 10.7 L1.3 7.1 L6.8 6.6 Z" })],
    [abandoned]: () => [circle("mark pale"), svg("path", { class: "mark stripes", d: "M5 5 L13 13 M13 5 L5 13" })],
    [forbidden]: () => [circle("mark pale")],
  };
  return svg("svg", { class: "key", width: 18, height: 18, "aria-hidden": "true" }, shapes[flag]());
}
