// @ts-check
// Small charts: axes, and layers of bands, lines, bars and points on them.

import { h, show, svg, table } from "./dom.js";
import { number, ticks } from "./format.js";

const margin = { top: 12, right: 14, bottom: 44, left: 62 };

// chart returns a figure that fits its width, now and when it changes. A layer is
// { kind, class, name, … }: "band" has x, low, high; "line" and "steps" have x, y;
// "points" has x, y and may have low, high, names, titles; "rule" has y, or is the
// diagonal without. Layers with a name are in the legend, and in the table below.
export function chart({ title, xName, yName, x, y, layers, height = 300, xTicks = null }) {
  const canvas = svg("svg", { role: "img", "aria-label": title, height });
  const figure = h("figure", { class: "chart" },
    canvas,
    h("figcaption", null, h("span", { class: "chart-title" }, title), legend(layers)),
    behind(title, xName, layers));
  const draw = (width) => {
    const plane = { x: scale(x, margin.left, width - margin.right), y: scale(y, height - margin.bottom, margin.top), width, height };
    canvas.setAttribute("viewBox", `0 0 ${width} ${height}`);
    canvas.replaceChildren(axes(plane, xName, yName, x, y, xTicks), ...layers.map((layer) => drawn[layer.kind](layer, plane, x, y)));
  };
  new ResizeObserver(([entry]) => draw(Math.max(220, entry.contentRect.width))).observe(canvas);
  return figure;
}

// behind is the table behind a chart, made when it is opened.
function behind(title, xName, layers) {
  const body = h("div", null);
  return h("details", { class: "behind", ontoggle: ({ target }) => { if (target.open) show(body, tableOf(title, xName, layers)); } },
    h("summary", null, "Table"), body);
}

const mostRows = 1000;

// tableOf has a row for each place on the x axis, and a column for each layer.
function tableOf(title, xName, layers) {
  const shown = layers.filter((layer) => layer.name && layer.x);
  const points = shown.some((layer) => layer.names) ? shown.filter((layer) => layer.names) : shown;
  const places = points.some((layer) => layer.names) ? points[0].x.map((_, k) => k) : [...new Set(points.flatMap((layer) => layer.x))].sort((a, b) => a - b);
  const named = points[0]?.names;
  const at = (layer, place) => (named ? place : layer.x.indexOf(place));
  const cell = (layer, k) => {
    if (k < 0) return "";
    const range = layer.low ? `${number(layer.low[k])} to ${number(layer.high[k])}` : "";
    return layer.y ? number(layer.y[k]) + (range && ` (${range})`) : range;
  };
  return table(title, [
    named && { name: "node", text: (p) => named[p], class: "t id" },
    { name: xName, text: (p) => number(named ? points[0].x[p] : p) },
    ...points.map((layer) => ({ name: layer.name, text: (p) => cell(layer, at(layer, p)) })),
  ].filter(Boolean), places.slice(0, mostRows));
}

// span is the range of all finite numbers of some lists, a little wider.
export function span(...lists) {
  let low = Infinity, high = -Infinity;
  for (const list of lists) {
    for (const v of list) {
      if (v === null || !Number.isFinite(v)) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  }
  if (low > high) return [0, 1];
  const room = (high - low) * 0.06 || Math.abs(low) * 0.1 || 1;
  return [low - room, high + room];
}

function scale([low, high], from, to) {
  return (v) => from + ((v - low) / (high - low)) * (to - from);
}

function axes(plane, xName, yName, x, y, xTicks) {
  const { width, height } = plane;
  const bottom = height - margin.bottom;
  const across = xTicks ?? ticks(x[0], x[1], width < 420 ? 4 : 7).map((v) => ({ at: v, text: number(v, 3) }));
  return svg("g", null,
    ticks(y[0], y[1]).map((v) => [
      svg("line", { class: "grid", x1: margin.left, x2: width - margin.right, y1: plane.y(v), y2: plane.y(v) }),
      svg("text", { class: "tick", x: margin.left - 8, y: plane.y(v) + 4, "text-anchor": "end" }, number(v, 3)),
    ]),
    across.map(({ at, text }) => svg("text", { class: "tick", x: plane.x(at), y: bottom + 18, "text-anchor": "middle" }, text)),
    svg("line", { class: "axis", x1: margin.left, x2: width - margin.right, y1: bottom, y2: bottom }),
    svg("text", { class: "axis-name", x: (margin.left + width - margin.right) / 2, y: height - 6, "text-anchor": "middle" }, xName),
    svg("text", { class: "axis-name", "text-anchor": "middle", transform: `translate(14 ${(margin.top + bottom) / 2}) rotate(-90)` }, yName));
}

const drawn = {
  band({ x, low, high, class: name }, plane) {
    const there = x.map((v, k) => `${plane.x(v)},${plane.y(high[k])}`);
    const back = x.map((v, k) => `${plane.x(v)},${plane.y(low[k])}`).reverse();
    return svg("polygon", { class: `band ${name ?? ""}`, points: there.concat(back).join(" ") });
  },
  line({ x, y, class: name }, plane) {
    return svg("polyline", { class: `line ${name ?? ""}`, points: x.map((v, k) => `${plane.x(v)},${plane.y(y[k])}`).join(" ") });
  },
  steps({ x, y, class: name }, plane) {
    const path = x.map((v, k) => (k === 0 ? `M${plane.x(v)},${plane.y(y[k])}` : `H${plane.x(v)}V${plane.y(y[k])}`));
    return svg("path", { class: `line ${name ?? ""}`, d: path.join("") });
  },
  points({ x, y, low, high, titles, class: name }, plane) {
    return svg("g", { class: `points ${name ?? ""}` }, x.map((v, k) => svg("g", null,
      titles && svg("title", null, titles[k]),
      low && svg("line", { class: "whisker", x1: plane.x(v), x2: plane.x(v), y1: plane.y(low[k]), y2: plane.y(high[k]) }),
      svg("circle", { cx: plane.x(v), cy: plane.y(y[k]), r: 3.2 }))));
  },
  rule({ y: at, class: name }, plane, x, y) {
    const from = Math.max(x[0], y[0]), to = Math.min(x[1], y[1]);
    const ends = at === undefined
      ? { x1: plane.x(from), y1: plane.y(from), x2: plane.x(to), y2: plane.y(to) }
      : { x1: plane.x(x[0]), y1: plane.y(at), x2: plane.x(x[1]), y2: plane.y(at) };
    return svg("line", { class: `rule ${name ?? ""}`, ...ends });
  },
};

function legend(layers) {
  const named = layers.filter((layer) => layer.name);
  return named.length > 0 && h("ul", { class: "legend" }, named.map((layer) =>
    h("li", null, key(layer), layer.name)));
}

// key is how a layer looks, beside its name.
function key({ kind, class: name }) {
  const mark = {
    band: () => svg("rect", { class: `band ${name ?? ""}`, x: 0, y: 2, width: 22, height: 10 }),
    points: () => svg("g", { class: `points ${name ?? ""}` }, svg("circle", { cx: 11, cy: 7, r: 3.5 })),
    rule: () => svg("line", { class: `rule ${name ?? ""}`, x1: 0, x2: 22, y1: 7, y2: 7 }),
  }[kind] ?? (() => svg("line", { class: `line ${name ?? ""}`, x1: 0, x2: 22, y1: 7, y2: 7 }));
  return svg("svg", { class: "key", width: 22, height: 14, "aria-hidden": "true" }, mark());
}
