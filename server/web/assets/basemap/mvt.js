// @ts-check
// Vector tiles (Mapbox Vector Tile, version 2), which are protocol buffers: layers of features with
// properties and shapes. A tile that is damaged, or that would take too long, is an error.

/**
 * @typedef {string | number | boolean} Value
 * @typedef {{ type: number, properties: Record<string, Value>, lines: Float32Array[] }} Feature lines are x, y, x, y … as shares of the tile
 * @typedef {{ name: string, features: Feature[] }} Layer
 */

export const point = 1, line = 2, polygon = 3;

const mostBytes = 8 << 20;
const mostFeatures = 60_000;
const mostNumbers = 1_500_000; // coordinates of all shapes

class Reader {
  /** @param {Uint8Array} bytes @param {number} at @param {number} end */
  constructor(bytes, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  more() {
    return this.at < this.end;
  }

  // varint is a whole number; beyond 2⁵³ it is rounded.
  varint() {
    let value = 0, scale = 1;
    for (let k = 0; k < 10; k++) {
      if (this.at >= this.end) throw new RangeError("a number of the tile ends early");
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new RangeError("a number of the tile is too long");
  }

  // part is a message within this one.
  part() {
    const length = this.varint();
    if (length > this.end - this.at) throw new RangeError("a part of the tile ends early");
    const part = new Reader(this.bytes, this.at, this.at + length);
    this.at += length;
    return part;
  }

  text() {
    const { bytes, at, end } = this.part();
    return new TextDecoder().decode(bytes.subarray(at, end));
  }

  /** @param {number} size */
  fixed(size) {
    if (size > this.end - this.at) throw new RangeError("a number of the tile ends early");
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, size);
    this.at += size;
    return size === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true);
  }

  // each calls visit with the number of every field; what it does not read is passed over.
  /** @param {(field: number, kind: number) => boolean | void} visit returns whether it has read the field */
  each(visit) {
    while (this.more()) {
      const key = this.varint();
      const [field, kind] = [Math.floor(key / 8), key % 8];
      if (!visit(field, kind)) this.pass(kind);
    }
  }

  /** @param {number} kind */
  pass(kind) {
    if (kind === 0) this.varint();
    else if (kind === 1) this.fixed(8);
    else if (kind === 2) this.part();
    else if (kind === 5) this.fixed(4);
    else throw new RangeError("the tile has a field of an unknown kind");
  }
}

// readTile reads the layers of a tile that are wanted.
/** @param {Uint8Array} bytes @param {(layer: string) => boolean} wanted @returns {Layer[]} */
export function readTile(bytes, wanted) {
  if (bytes.length > mostBytes) throw new RangeError("the tile is too large");
  const left = { features: mostFeatures, numbers: mostNumbers };
  /** @type {Layer[]} */
  const layers = [];
  const tile = new Reader(bytes);
  tile.each((field, kind) => {
    if (field !== 3 || kind !== 2) return false;
    const layer = readLayer(tile.part(), wanted, left);
    if (layer) layers.push(layer);
    return true;
  });
  return layers;
}

/** @param {Reader} part @param {(layer: string) => boolean} wanted @param {{ features: number, numbers: number }} left */
function readLayer(part, wanted, left) {
  let name = "", extent = 4096;
  /** @type {string[]} */
  const keys = [];
  /** @type {Value[]} */
  const values = [];
  /** @type {Reader[]} */
  const parts = [];
  part.each((field, kind) => {
    if (field === 1 && kind === 2) name = part.text();
    else if (field === 2 && kind === 2) parts.push(part.part());
    else if (field === 3 && kind === 2) keys.push(part.text());
    else if (field === 4 && kind === 2) values.push(readValue(part.part()));
    else if (field === 5 && kind === 0) extent = part.varint();
    else return false;
    return true;
  });
  if (!wanted(name)) return null;
  if (!(extent > 0)) throw new RangeError("the tile has no extent");
  left.features -= parts.length;
  if (left.features < 0) throw new RangeError("the tile has too many features");
  return { name, features: parts.map((p) => readFeature(p, keys, values, extent, left)) };
}

/** @param {Reader} part @returns {Value} */
function readValue(part) {
  /** @type {Value} */
  let value = "";
  part.each((field, kind) => {
    if (field === 1 && kind === 2) value = part.text();
    else if (field === 2 && kind === 5) value = part.fixed(4);
    else if (field === 3 && kind === 1) value = part.fixed(8);
    else if ((field === 4 || field === 5) && kind === 0) value = part.varint();
    else if (field === 6 && kind === 0) value = signed(part.varint());
    else if (field === 7 && kind === 0) value = part.varint() !== 0;
    else return false;
    return true;
  });
  return value;
}

/** @param {number} v */
function signed(v) {
  return v % 2 === 0 ? v / 2 : -(v + 1) / 2;
}

/** @param {Reader} part @param {string[]} keys @param {Value[]} values @param {number} extent @param {{ numbers: number }} left @returns {Feature} */
function readFeature(part, keys, values, extent, left) {
  let type = 0;
  /** @type {Record<string, Value>} */
  const properties = Object.create(null);
  /** @type {Float32Array[]} */
  let lines = [];
  part.each((field, kind) => {
    if (field === 3 && kind === 0) {
      type = part.varint();
    } else if (field === 2 && kind === 2) {
      for (const tags = part.part(); tags.more();) {
        const [key, value] = [keys[tags.varint()], values[tags.varint()]];
        if (key !== undefined && value !== undefined) properties[key] = value;
      }
    } else if (field === 4 && kind === 2) {
      lines = readShape(part.part(), extent, left);
    } else {
      return false;
    }
    return true;
  });
  return { type, properties, lines };
}

// readShape follows the commands of a pen: 1 moves, 2 draws, 7 closes.
/** @param {Reader} part @param {number} extent @param {{ numbers: number }} left */
function readShape(part, extent, left) {
  /** @type {Float32Array[]} */
  const lines = [];
  /** @type {number[]} */
  let now = [];
  let x = 0, y = 0;
  const end = () => {
    if (now.length > 0) lines.push(Float32Array.from(now));
    now = [];
  };
  while (part.more()) {
    const command = part.varint();
    const [what, times] = [command % 8, Math.floor(command / 8)];
    if (what === 7) {
      if (now.length > 0) now.push(now[0], now[1]);
      continue;
    }
    if (what !== 1 && what !== 2) throw new RangeError("the tile has an unknown command");
    left.numbers -= 2 * times;
    if (left.numbers < 0) throw new RangeError("the tile has too many points");
    for (let k = 0; k < times; k++) {
      x += signed(part.varint());
      y += signed(part.varint());
      if (what === 1) end();
      now.push(x / extent, y / extent);
    }
  }
  end();
  return lines;
}
