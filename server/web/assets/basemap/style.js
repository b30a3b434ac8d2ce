// @ts-check
// How vector tiles are drawn: quietly, so that the nodes stand out. The names of layers and kinds are
// those of two schemas in common use, OpenMapTiles and the Protomaps basemap.

import { line, point, polygon } from "./mvt.js";

/** @typedef {import("./mvt.js").Layer} Layer @typedef {import("./mvt.js").Feature} Feature */

const palettes = {
  light: { land: "#f0f0ec", green: "#e2e9da", built: "#e9e8e3", building: "#dfddd7", water: "#cbdce6", road: "#ffffff", casing: "#d3d2cc", path: "#dcdad3", rail: "#cbc9c4", border: "#a9a4b8", text: "#5d636c", halo: "#f4f4f1" },
  dark: { land: "#1d2126", green: "#1f2822", built: "#22262c", building: "#2a2f36", water: "#182a35", road: "#3a414a", casing: "#262b31", path: "#2d3239", rail: "#343a42", border: "#565470", text: "#a2abb6", halo: "#1a1d22" },
};

/** @param {string} text */
const words = (text) => new Set(text.split(" "));

const green = words("wood forest grass grassland scrub shrub heath meadow park nature_reserve national_park protected_area garden golf_course recreation_ground pitch playground cemetery village_green allotments orchard wetland zoo farmland");
const built = words("residential commercial industrial retail urban_area suburb neighbourhood school university college hospital military aerodrome airport railway stadium");

// roads are the classes of roads, from the narrowest: how wide they are beside the widest, and from
// which zoom on they are drawn.
const roads = [
  { kinds: words("path pedestrian footway cycleway track steps other"), wide: 0.16, from: 14, colour: "path" },
  { kinds: words("minor minor_road service residential street street_limited unclassified living_street raceway busway"), wide: 0.42, from: 12 },
  { kinds: words("secondary tertiary medium_road"), wide: 0.66, from: 9 },
  { kinds: words("motorway trunk primary highway major_road"), wide: 1, from: 4 },
];

// places are the kinds of places, the most important first: the size of their names, in pixels.
const places = [
  { kinds: words("country"), size: 15 },
  { kinds: words("state region province"), size: 13 },
  { kinds: words("city locality"), size: 13 },
  { kinds: words("town"), size: 12 },
  { kinds: words("village suburb macrohood borough island"), size: 11 },
  { kinds: words("neighbourhood quarter hamlet"), size: 10 },
];

const used = words("earth landcover landuse park water waterway physical_line building buildings transportation roads transit boundary boundaries place places");

// isUsed tells whether a layer is drawn.
/** @param {string} layer */
export function isUsed(layer) {
  return used.has(layer);
}

// kindOf is what a feature is, in either schema.
/** @param {Feature} feature */
export function kindOf({ properties }) {
  return String(properties.kind ?? properties["pmap:kind"] ?? properties.class ?? "");
}

// drawTile draws the layers of a tile on a square canvas of so many pixels. Zoom is that of what is
// drawn; across is how many times narrower than the tile it is, and left and top its place within,
// in its own sizes.
/** @param {OffscreenCanvasRenderingContext2D} pen @param {Layer[]} layers @param {{ size: number, zoom: number, dark: boolean, dense: number, across?: number, left?: number, top?: number }} how */
export function drawTile(pen, layers, { size, zoom, dark, dense, across = 1, left = 0, top = 0 }) {
  const colours = palettes[dark ? "dark" : "light"];
  /** @param {number} v */
  const px = (v) => (v * across - left) * size;
  /** @param {number} v */
  const py = (v) => (v * across - top) * size;
  /** @param {Feature} feature */
  const trace = ({ lines }) => {
    for (const at of lines) {
      pen.moveTo(px(at[0]), py(at[1]));
      for (let k = 2; k < at.length; k += 2) pen.lineTo(px(at[k]), py(at[k + 1]));
    }
  };
  /** @param {string[]} names @param {number} type @param {(kind: string, f: Feature) => boolean} wanted */
  const of = (names, type, wanted = () => true) => layers.filter((l) => names.includes(l.name)).flatMap((l) => l.features.filter((f) => f.type === type && wanted(kindOf(f), f)));
  /** @param {string} colour @param {Feature[]} features */
  const fill = (colour, features) => {
    pen.fillStyle = colour;
    for (const f of features) { // each by itself: overlapping ones would cut holes
      pen.beginPath();
      trace(f);
      pen.fill();
    }
  };
  /** @param {string} colour @param {number} width @param {Feature[]} features */
  const stroke = (colour, width, features) => {
    pen.beginPath();
    for (const f of features) trace(f);
    pen.strokeStyle = colour;
    pen.lineWidth = width * dense;
    pen.stroke();
  };

  pen.lineJoin = pen.lineCap = "round";
  pen.fillStyle = colours.land;
  pen.fillRect(0, 0, size, size);
  fill(colours.built, of(["landuse"], polygon, (kind) => built.has(kind)));
  fill(colours.green, [...of(["landcover", "landuse"], polygon, (kind) => green.has(kind)), ...of(["park"], polygon)]);
  fill(colours.water, of(["water"], polygon));
  if (zoom >= 9) stroke(colours.water, Math.min(3, 0.8 * 1.2 ** (zoom - 9)), of(["waterway", "water", "physical_line"], line));
  if (zoom >= 14) fill(colours.building, of(["building", "buildings"], polygon));

  const widest = Math.min(26, 1.2 * 1.34 ** (zoom - 8));
  const drawn = roads.filter(({ from }) => zoom >= from).map((road) => ({ ...road, width: Math.max(0.6, road.wide * widest), features: of(["transportation", "roads"], line, (kind) => road.kinds.has(kind)) }));
  if (zoom >= 10) stroke(colours.rail, Math.max(0.8, 0.18 * widest), of(["transportation", "roads", "transit"], line, (kind) => kind === "rail" || kind === "transit"));
  for (const { width, features, colour } of drawn) if (!colour) stroke(colours.casing, width + 1.2, features);
  for (const { width, features, colour } of drawn) stroke(colour ? colours.path : colours.road, width, features);

  pen.setLineDash([4 * dense, 3 * dense]);
  stroke(colours.border, 1, of(["boundary", "boundaries"], line, (_, { properties: p }) => Number(p.admin_level ?? p["pmap:min_admin_level"] ?? p.kind_detail ?? 2) <= 4));
  pen.setLineDash([]);
  writeNames(pen, of(["place", "places"], point), { size, dense, px, py }, colours);
}

const mostNames = 12; // in a tile

// writeNames writes the names of places that fit into the tile without meeting one another.
/** @param {OffscreenCanvasRenderingContext2D} pen @param {Feature[]} features @param {{ size: number, dense: number, px: (v: number) => number, py: (v: number) => number }} at @param {{ text: string, halo: string }} colours */
function writeNames(pen, features, { size, dense, px, py }, colours) {
  const rank = (/** @type {Feature} */ f) => places.findIndex(({ kinds }) => kinds.has(String(f.properties.class ?? "")) || kinds.has(String(f.properties.kind_detail ?? "")) || kinds.has(kindOf(f)));
  const people = ({ properties: p }) => Number(p.population_rank ?? p["pmap:population_rank"] ?? -Number(p.rank ?? 99));
  const listed = features.map((f) => ({ f, k: rank(f) })).filter(({ k }) => k >= 0).sort((a, b) => a.k - b.k || people(b.f) - people(a.f));
  /** @type {number[][]} */
  const taken = [];
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineWidth = 3 * dense;
  for (const { f, k } of listed) {
    const name = String(f.properties.name ?? f.properties["name:latin"] ?? f.properties["name:en"] ?? "").slice(0, 60);
    if (name === "" || taken.length === mostNames || !f.lines[0]) continue;
    const [x, y] = [px(f.lines[0][0]), py(f.lines[0][1])];
    const high = places[k].size * dense;
    pen.font = `${k < 3 ? "600 " : ""}${high}px system-ui, sans-serif`;
    const half = pen.measureText(name).width / 2 + 4 * dense;
    const box = [x - half, y - high * 0.8, x + half, y + high * 0.8];
    if (box[0] < 0 || box[1] < 0 || box[2] > size || box[3] > size) continue;
    if (taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) continue;
    taken.push(box);
    pen.strokeStyle = colours.halo;
    pen.strokeText(name, x, y);
    pen.fillStyle = colours.text;
    pen.fillText(name, x, y);
  }
}
