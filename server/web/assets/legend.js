// @ts-check
// The legend of the map: colours of values, marks of states.

import { classLegend } from "./classes.js";
import { rampStops } from "./colour.js";
import { h, svg } from "./dom.js";
import { number, plural } from "./format.js";
import { abandoned, forbidden, measured, pending } from "./scene.js";

const suggested = 16; // of the legend alone

// nameOf says what the colours are.
export function nameOf(by, head, unit) {
  const of = unit ? `, ${unit}` : "";
  return {
    mean: `Predicted mean${of}`,
    class: "Most probable class, paler where unsure",
    sd: `Standard deviation of the prediction${of}`,
    chance: `Chance of being above ${number(head.level)}`,
  }[by];
}

// endsOf are the texts at both ends of a scale: a number, or that there is more beyond it.
export function endsOf(scale, by) {
  if (by === "chance") return ["0 %", "100 %"];
  return [scale.below > 0 ? `below ${number(scale.low)}` : number(scale.low), scale.above > 0 ? `above ${number(scale.high)}` : number(scale.high)];
}

// beyondOf says which nodes are outside of the scale; "": none.
export function beyondOf(scale) {
  const parts = [];
  if (scale.below > 0) parts.push(`${plural(scale.below, "node")} below, down to ${number(scale.min)}`);
  if (scale.above > 0) parts.push(`${plural(scale.above, "node")} above, up to ${number(scale.max)}`);
  return parts.length === 0 ? "" : `Outside the colour scale: ${parts.join("; ")}.`;
}

const marks = [
  { flag: measured, name: "measured" }, { flag: pending, name: "reserved" }, { flag: suggested, name: "suggested" },
  { flag: abandoned, name: "abandoned: never suggested again" }, { flag: forbidden, name: "small: not allowed, never suggested" },
];

const always = measured | pending | suggested;

// seenOf are the flags that occur.
export function seenOf(columns) {
  let seen = columns.flags ? forbidden : 0;
  for (const f of columns.mark_flags) seen |= f;
  return seen;
}

// legend explains a map that is coloured by mean, sd or chance; rare marks only where they occur.
export function legend(by, { head, columns }, unit) {
  return [
    by === "class" ? classLegend(head.classes) : head.scales[by] && bar(by, head, unit),
    h("details", { class: "key-list" }, h("summary", null, "Marks"),
      h("ul", { class: "legend" }, marks.filter(({ flag }) => flag & (seenOf(columns) | always)).map(({ flag, name }) => h("li", null, mark(flag), name)))),
  ];
}

function bar(by, head, unit) {
  const scale = head.scales[by];
  const stops = rampStops(by);
  const [low, high] = endsOf(scale, by);
  const beyond = beyondOf(scale);
  const gradient = svg("linearGradient", { id: "ramp" }, stops.map((colour, k) => svg("stop", { offset: k / (stops.length - 1), "stop-color": colour })));
  return h("div", { class: "ramp" },
    h("span", { class: "ramp-name" }, nameOf(by, head, unit)),
    h("div", { class: "ramp-bar" },
      h("span", null, low),
      svg("svg", { height: 14, preserveAspectRatio: "none", viewBox: "0 0 100 14", role: "img", "aria-label": `from ${low} to ${high}` },
        svg("defs", null, gradient), svg("rect", { width: 100, height: 14, fill: "url(#ramp)" })),
      h("span", null, high)),
    beyond && h("p", { class: "ramp-beyond" }, beyond));
}

// mark draws what the map shows at a node of this state.
function mark(flag) {
  const circle = (name, r = 6) => svg("circle", { class: name, cx: 9, cy: 9, r });
  const shapes = {
    [measured]: () => [circle("mark outlined")],
    [pending]: () => [circle("mark outlined"), svg("path", { class: "mark stripes", d: "M4 10 L10 4 M5.5 13.5 L13.5 5.5 M9 14.5 L14.5 9" })],
    [suggested]: () => [circle("mark wanted", 7), svg("text", { class: "mark-text", x: 9, y: 13, "text-anchor": "middle" }, "?")],
    [abandoned]: () => [svg("path", { class: "mark stripes", d: "M5 5 L13 13 M13 5 L5 13" })],
    [forbidden]: () => [circle("mark pale", 2.5)],
  };
  return svg("svg", { class: "key", width: 18, height: 18, "aria-hidden": "true" }, shapes[flag]());
}
