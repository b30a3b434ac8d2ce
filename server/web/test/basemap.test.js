import assert from "node:assert/strict";
import { test } from "node:test";
import { meets } from "../assets/background.js";
import { down, inWorld, latitudeOf, parentOf, placeOf, tilesIn, zoomFor } from "../assets/basemap/mercator.js";
import { line, point, polygon, readTile } from "../assets/basemap/mvt.js";
import { isUsed, kindOf } from "../assets/basemap/style.js";

const home = { lon: -121.7, shrink: Math.cos((37.35 * Math.PI) / 180) };

test("latitudes and places on the tiles", () => {
  for (const lat of [-80, -33.5, 0, 37.2, 71]) assert.ok(Math.abs(latitudeOf(down(lat)) - lat) < 1e-9);
  assert.ok(Math.abs(down(90)) < 1e-9 && Math.abs(down(-90) - 1) < 1e-9);
  assert.equal(down(0), 0.5);
});

test("the tiles of a box cover it, the middle first", () => {
  const box = [-0.2, 37.2, 0.2, 37.5];
  const tiles = tilesIn(box, 10, home, 60);
  assert.deepEqual(new Set(tiles.map((t) => `${t.x}/${t.y}`)), new Set(["165/396", "165/397", "166/396", "166/397"]));
  assert.deepEqual(tilesIn(box, 10, home, 3), null);
  assert.deepEqual(tilesIn([-1e9, -90, 1e9, 90], 10, home, 60), null);
  const around = tilesIn([-1, -10, 1, 10], 2, { lon: 180, shrink: 1 }, 60);
  assert.deepEqual(new Set(around.map((t) => inWorld(t).x)), new Set([3, 0]));
  assert.deepEqual(parentOf({ z: 10, x: 165, y: 397 }, 2), { z: 8, x: 41, y: 99 });
  assert.deepEqual(parentOf({ z: 2, x: -1, y: 0 }, 1), { z: 1, x: -1, y: 0 });
});

test("a tile lies where its latitudes and longitudes say, all along", () => {
  for (const tile of [{ z: 0, x: 0, y: 0 }, { z: 3, x: 1, y: 2 }, { z: 10, x: 165, y: 397 }, { z: 18, x: 42430, y: 101600 }]) {
    const pixels = 512;
    const { x, y, width, heights } = placeOf(tile, home, pixels);
    const side = 2 ** tile.z;
    assert.ok(Math.abs(x / home.shrink + home.lon - ((tile.x / side) * 360 - 180)) < 1e-9);
    assert.ok(Math.abs(y - latitudeOf(tile.y / side)) < 1e-9);
    assert.ok(Math.abs(width - (360 / side) * home.shrink) < 1e-12);
    const perPixel = -heights.at(-1) / pixels;
    for (let k = 0; k <= 100; k++) {
      const at = (k / 100) * (heights.length - 1), line = Math.min(heights.length - 2, Math.floor(at));
      const drawn = heights[line] + (at - line) * (heights[line + 1] - heights[line]);
      const off = Math.abs(y + drawn - latitudeOf((tile.y + k / 100) / side)) / perPixel;
      assert.ok(off < 0.5, `zoom ${tile.z}: ${off} pixels`);
    }
  }
});

test("the zoom follows the camera", () => {
  const perUnit = 2760;
  const z = zoomFor(perUnit, home, 256);
  const wide = (360 / 2 ** z) * home.shrink * perUnit;
  assert.ok(wide > 256 / 1.5 && wide < 256 * 1.5, `${wide}`);
});

test("a map is offered where it covers something", () => {
  const bounds = [-0.2, 37.2, 0.2, 37.5];
  assert.ok(meets([-122, 37, -121, 38], home, bounds));
  assert.ok(!meets([-120, 37, -119, 38], home, bounds));
  assert.ok(!meets([-122, 30, -121, 31], home, bounds));
  assert.ok(meets([-180, -85, 180, 85], home, bounds));
  assert.ok(meets([-180, -20, -178, -10], { lon: 180, shrink: 1 }, [-3, -15, 3, -12]));
});

// What a tile is made of.
const varint = (v) => (v < 128 ? [v] : [(v % 128) + 128, ...varint(Math.floor(v / 128))]);
const field = (number, body) => [...varint(number * 8 + 2), ...varint(body.length), ...body];
const text = (s) => [...new TextEncoder().encode(s)];
const zigzag = (v) => (v < 0 ? -2 * v - 1 : 2 * v);
const pen = (...commands) => commands.flatMap(([what, times, ...steps]) => [...varint(what + 8 * times), ...steps.flatMap((v) => varint(zigzag(v)))]);
const feature = (type, tags, shape) => field(2, [...field(2, tags.flatMap(varint)), 3 * 8, type, ...field(4, shape)]);
const layer = (name, ...parts) => field(3, [...field(1, text(name)), ...parts.flat(), 5 * 8, ...varint(4096)]);

const lake = feature(3, [0, 0], pen([1, 1, 0, 0], [2, 3, 2048, 0, 0, 4096, -2048, 0], [7, 1]));
const road = feature(2, [0, 1, 1, 2], pen([1, 1, 4096, 0], [2, 1, -4096, 2048], [1, 1, 0, 0], [2, 1, 10, 10]));
const town = feature(1, [2, 3], pen([1, 1, 1024, 3072]));
const tables = [...field(3, text("class")), ...field(3, text("lanes")), ...field(3, text("name")), ...field(4, field(1, text("lake"))), ...field(4, field(1, text("motorway"))), ...field(4, [4 * 8, 6]), ...field(4, field(1, text("Łódź")))];
const sample = Uint8Array.from([...layer("water", lake, road, town, tables), ...layer("secret", lake, tables), 9 * 8, 1]);

test("a vector tile is read", () => {
  const [only, ...more] = readTile(sample, (name) => name === "water");
  assert.equal(more.length, 0);
  assert.deepEqual(only.features.map((f) => [f.type, { ...f.properties }, f.lines.map((l) => [...l])]), [
    [polygon, { class: "lake" }, [[0, 0, 0.5, 0, 0.5, 1, 0, 1, 0, 0]]],
    [line, { class: "motorway", lanes: 6 }, [[1, 0, 0, 0.5], [0, 0.5, 10 / 4096, 0.5 + 10 / 4096].map(Math.fround)]],
    [point, { name: "Łódź" }, [[0.25, 0.75]]],
  ]);
  assert.deepEqual(readTile(new Uint8Array(0), () => true), []);
  assert.equal(kindOf(only.features[1]), "motorway");
  assert.ok(isUsed("water") && !isUsed("secret"));
});

test("a property of a tile cannot change other objects", () => {
  const bad = Uint8Array.from(layer("water", feature(1, [0, 0], pen([1, 1, 0, 0])), field(3, text("__proto__")), field(4, field(1, text("x")))));
  const [{ features: [f] }] = readTile(bad, () => true);
  assert.equal(Object.getPrototypeOf(f.properties), null);
  assert.equal({}.x, undefined);
});

test("damaged tiles are errors, and soon", () => {
  let seed = 1;
  const random = (n) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed % n; };
  let refused = 0;
  for (let k = 0; k < 20_000; k++) {
    const bytes = k % 2 ? sample.slice(0, random(sample.length)) : sample.slice();
    for (let c = random(6); c >= 0; c--) if (bytes.length > 0) bytes[random(bytes.length)] = random(256);
    try {
      readTile(bytes, () => true);
    } catch (error) {
      assert.ok(error instanceof RangeError, String(error.stack));
      refused++;
    }
  }
  assert.ok(refused > 1000, `${refused}`);
  const endless = Uint8Array.from(layer("water", feature(2, [], pen([1, 1, 0, 0], [2, 2 ** 28]))));
  assert.throws(() => readTile(endless, () => true), /too many points/);
  assert.throws(() => readTile(new Uint8Array(9 << 20), () => true), /too large/);
});
