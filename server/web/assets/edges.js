// @ts-check
// Edges of the map: all of them where they are few, those in sight where they are many.

import { patiently } from "./api.js";
import { readColumns } from "./columns.js";

const fewEdges = 60_000; // a map shows at most so many
const fewNodes = 30_000; // in sight, for which the server is asked
const sparse = 2.5; // edges per node up to which lines can be told apart

export class Edges {
  constructor(graph, places) {
    this.path = `/v1/graphs/${encodeURIComponent(graph)}/edges`;
    this.places = places;
    this.all = places.head.edges <= fewEdges;
    this.from = this.to = new Uint32Array(0);
    this.seen = null; // box that was asked for; null: nothing yet
  }

  // coloured tells whether edges have the colours of their ends.
  get coloured() {
    return this.places.head.edges <= sparse * this.places.head.placed;
  }

  // load gets the edges that a camera sees, those that lead out of the view included, and tells whether
  // they have changed.
  async load(camera, signal) {
    const wanted = this.all ? "" : this.boxOf(camera);
    if (wanted === null || (this.seen !== null && (this.all || contains(this.seen, camera.box())))) return this.forget(wanted === null);
    const path = wanted === "" ? this.path : `${this.path}?box=${wanted.join(",")}`;
    const { columns } = readColumns(await (await patiently("GET", path, { signal })).arrayBuffer());
    [this.from, this.to, this.seen] = [columns.from, columns.to, wanted === "" ? [] : wanted];
    return true;
  }

  // boxOf is the box to ask for, null where too much is seen.
  boxOf(camera) {
    return this.places.countIn(camera.box()) <= fewNodes ? camera.box(0.6) : null;
  }

  forget(tooMany) {
    if (!tooMany || this.from.length === 0) return false;
    this.from = this.to = new Uint32Array(0);
    this.seen = null;
    return true;
  }

  // ends are the positions of both ends of every edge, as the scene takes them.
  ends() {
    const { from, to, places: { x, y } } = this;
    const ends = new Float32Array(4 * from.length);
    for (let k = 0; k < from.length; k++) ends.set([x[from[k]], y[from[k]], x[to[k]], y[to[k]]], 4 * k);
    return ends;
  }

  // values are those of both ends of every edge, of a column by row.
  values(column) {
    const { from, to } = this;
    const both = new column.constructor(2 * from.length);
    for (let k = 0; k < from.length; k++) {
      both[2 * k] = column[from[k]];
      both[2 * k + 1] = column[to[k]];
    }
    return both;
  }
}

// contains tells whether a box lies within another.
function contains(outer, inner) {
  return outer[0] <= inner[0] && outer[1] <= inner[1] && outer[2] >= inner[2] && outer[3] >= inner[3];
}
