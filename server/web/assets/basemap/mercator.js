// @ts-check
// Tiles of the Web Mercator projection, and where they lie on the map, whose y are latitudes and
// whose x are longitudes from a meridian, shrunk by a factor.

/** @typedef {{ z: number, x: number, y: number }} Tile */
/** @typedef {{ lon: number, shrink: number }} Projection */

const rad = Math.PI / 180;
export const farthest = 85.0511287798066; // degrees of latitude at the edge of the projection

// latitudeOf is the latitude at a share of the height of the world, from the north, and down the other way.
/** @param {number} v */
export function latitudeOf(v) {
  return Math.atan(Math.sinh(Math.PI * (1 - 2 * v))) / rad;
}

/** @param {number} lat */
export function down(lat) {
  const held = Math.max(-farthest, Math.min(farthest, lat));
  return (1 - Math.asinh(Math.tan(held * rad)) / Math.PI) / 2;
}

// zoomFor is the zoom at which a tile is about so many pixels wide, where a unit of the map is so
// many pixels.
/** @param {number} perUnit @param {Projection} projection @param {number} size */
export function zoomFor(perUnit, { shrink }, size) {
  return Math.round(Math.log2((360 * shrink * perUnit) / size));
}

// tilesIn are the tiles of a zoom in a box of the map [x0, y0, x1, y1], those nearest to its middle
// first; null if there are more than so many. Those around the world have x beyond its tiles.
/** @param {number[]} box @param {number} z @param {Projection} projection @param {number} most @returns {Tile[] | null} */
export function tilesIn([x0, y0, x1, y1], z, { lon, shrink }, most) {
  const side = 2 ** z;
  const column = (/** @type {number} */ x) => ((lon + x / shrink + 180) / 360) * side;
  const [west, east] = [column(x0), column(x1)];
  const [north, south] = [down(y1) * side, down(y0) * side];
  const [left, right] = [Math.floor(west), Math.ceil(east) - 1];
  const [top, bottom] = [Math.max(0, Math.floor(north)), Math.min(side - 1, Math.ceil(south) - 1)];
  if (!((right - left + 1) * (bottom - top + 1) <= most)) return null;
  /** @type {Tile[]} */
  const tiles = [];
  for (let y = top; y <= bottom; y++) for (let x = left; x <= right; x++) tiles.push({ z, x, y });
  const [mx, my] = [(west + east) / 2 - 0.5, (north + south) / 2 - 0.5];
  const off = (/** @type {Tile} */ t) => Math.hypot(t.x - mx, t.y - my);
  return tiles.sort((a, b) => off(a) - off(b));
}

// inWorld is the tile as an archive names it: x goes around the world.
/** @param {Tile} tile @returns {Tile} */
export function inWorld({ z, x, y }) {
  const side = 2 ** z;
  return { z, x: ((x % side) + side) % side, y };
}

// parentOf is the tile so many zooms lower that contains a tile.
/** @param {Tile} tile @param {number} by @returns {Tile} */
export function parentOf({ z, x, y }, by) {
  return { z: z - by, x: Math.floor(x / 2 ** by), y: Math.floor(y / 2 ** by) };
}

// placeOf is where a tile lies on the map: its north-west corner, its width, and the heights of
// lines across it below the corner, at even shares of the tile from 0 to 1: so many that what is
// straight between them is off by a quarter of a pixel at most.
/** @param {Tile} tile @param {Projection} projection @param {number} pixels */
export function placeOf({ z, x, y }, { lon, shrink }, pixels) {
  const side = 2 ** z;
  const lines = Math.max(1, Math.ceil(Math.sqrt((pixels * 2 * Math.PI) / side / 4)));
  const top = latitudeOf(y / side);
  const heights = Array.from({ length: lines + 1 }, (_, k) => latitudeOf((y + k / lines) / side) - top);
  return { x: ((x / side) * 360 - 180 - lon) * shrink, y: top, width: (360 / side) * shrink, heights };
}
