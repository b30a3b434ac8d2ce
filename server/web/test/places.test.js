import assert from "node:assert/strict";
import test from "node:test";

import { readColumns } from "../assets/columns.js";
import { Places, mixed } from "../assets/places.js";

// buffer packs columns as the server does.
function buffer(head, columns) {
  const parts = [];
  let offset = 0;
  const list = Object.entries(columns).map(([name, data]) => {
    const at = offset;
    const bytes = new Uint8Array(Math.ceil(data.byteLength / 4) * 4);
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    parts.push(bytes);
    offset += bytes.length;
    return { name, type: { Uint32Array: "uint32", Uint16Array: "uint16", Uint8Array: "uint8", Float32Array: "float32" }[data.constructor.name], rows: data.length, offset: at };
  });
  let text = JSON.stringify({ ...head, columns: list });
  while ((12 + text.length) % 8 !== 0) text += " ";
  const all = new Uint8Array(12 + text.length + offset);
  all.set(new TextEncoder().encode("GRFGPCO1"));
  new DataView(all.buffer).setUint32(8, text.length, true);
  all.set(new TextEncoder().encode(text), 12);
  let at = 12 + text.length;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return all.buffer;
}

// gridOf is a grid of side × side nodes at whole coordinates, and one node without a place.
function gridOf(side, top, Kind) {
  const n = side * side + 1;
  const x = new Kind(n).fill(top), y = new Kind(n).fill(top);
  const frame = ((side - 1) * top) / (top - 1);
  for (let k = 0; k < n - 1; k++) {
    x[k] = Math.round(((k % side) / frame) * top);
    y[k] = Math.round((Math.floor(k / side) / frame) * top);
  }
  const head = { rows: n, total: n, step: 1, placed: n - 1, top, frame: [0, 0, frame, frame] };
  return new Places(readColumns(buffer(head, { x, y })));
}

test("columns of all kinds are read where they are", () => {
  const { head, columns } = readColumns(buffer({ kind: "k" }, { a: new Uint16Array([1, 65535, 7]), b: new Uint8Array([1, 2, 3, 4, 5]), c: new Float32Array([0.5]), d: new Uint32Array([4e9]) }));
  assert.equal(head.kind, "k");
  assert.deepEqual([...columns.a, ...columns.b, ...columns.c, ...columns.d], [1, 65535, 7, 1, 2, 3, 4, 5, 0.5, 4e9]);
  assert.throws(() => readColumns(new ArrayBuffer(16)));
});

for (const [name, top, Kind] of [["16", 65535, Uint16Array], ["24", 2 ** 24 - 1, Uint32Array]]) {
  test(`positions of ${name} bits are those of the nodes`, () => {
    const places = gridOf(40, top, Kind);
    for (const row of [0, 39, 40, 817, 1599]) {
      const [x, y] = places.at(row);
      assert.ok(Math.hypot(x - (row % 40), y - Math.floor(row / 40)) < 80 / top, `${row} is at ${x}, ${y}`);
      assert.equal(places.nearest((row % 40) + 0.2, Math.floor(row / 40) - 0.3, 0.5), row);
    }
    assert.equal(places.at(1600), null);
    assert.equal(places.nearest(20.5, 20.5, 0.4), -1);
    assert.equal(places.nearest(-500, 900, 1), -1);
    assert.ok(Math.abs(places.spacing - 1) < 0.1, `nodes are ${places.spacing} apart`);
    assert.equal(places.countIn([-1, -1, 100, 100]), 1600);
    assert.ok(places.countIn([0, 0, 9.9, 9.9]) >= 100 && places.countIn([0, 0, 9.9, 9.9]) <= 200);
  });
}

test("nearest finds what a look at all nodes finds", () => {
  const rows = 500, top = 65535, x = new Uint16Array(rows), y = new Uint16Array(rows);
  for (let k = 0; k < rows; k++) [x[k], y[k]] = [mixed(2 * k) % top, (mixed(2 * k + 1) % top) / 50];
  const places = new Places({ head: { rows, total: rows, step: 1, placed: rows, top, frame: [3, -2, 10, 4] }, columns: { x, y } });
  for (let k = 0; k < 50; k++) {
    const at = places.position(mixed(k + 7) % top, (mixed(k + 99) % top) / 50);
    let best = -1, least = Infinity;
    for (let row = 0; row < rows; row++) {
      const [px, py] = places.at(row);
      const d = Math.hypot(px - at[0], py - at[1]);
      if (d < least) [best, least] = [row, d];
    }
    const found = places.nearest(...at, 20);
    assert.ok(Math.abs(Math.hypot(places.at(found)[0] - at[0], places.at(found)[1] - at[1]) - least) < 1e-12, `${found}, not ${best}`);
  }
});

test("of a very large graph, rows are numbered as the server numbers them", () => {
  const places = new Places({ head: { rows: 4, total: 30, step: 8, placed: 30, top: 65535, frame: [0, 0, 1, 1] }, columns: { x: new Uint16Array(4), y: new Uint16Array(4) } });
  const numbers = [0, 1, 2, 3].map((row) => places.number(row));
  numbers.forEach((n, row) => {
    assert.ok(n >= 8 * row && n < Math.min(30, 8 * row + 8));
    assert.equal(places.rowOf(n), row);
  });
  assert.equal(mixed(1), 0x514e28b7); // the finalizer of MurmurHash3
  assert.equal(mixed(0), 0);
});

test("a place on the globe is where the map has it, also across the antimeridian", () => {
  const places = gridOf(3, 65535, Uint16Array);
  places.head.projection = { lon: 179, shrink: 0.5 };
  const [x, y] = places.project(61, -179);
  assert.ok(Math.abs(x - 1) < 1e-9 && y === 61);
});
