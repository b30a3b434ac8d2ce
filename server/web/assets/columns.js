// Binary columns as the server sends them: a JSON head, then arrays.

const magic = "GRFGPCO1";
const arrays = { float32: Float32Array, uint32: Uint32Array, uint8: Uint8Array };

// readColumns returns the head and the columns by name. Texts are read one by
// one, when they are wanted: at(row).
export function readColumns(buffer) {
  const text = new TextDecoder();
  if (text.decode(new Uint8Array(buffer, 0, 8)) !== magic) throw new Error("these are no columns of grfgp");
  const size = new DataView(buffer).getUint32(8, true);
  const head = JSON.parse(text.decode(new Uint8Array(buffer, 12, size)));
  const columns = {};
  for (const { name, type, rows, offset } of head.columns) {
    const at = 12 + size + offset;
    columns[name] = type === "text" ? new Texts(buffer, at, rows) : new arrays[type](buffer, at, rows);
  }
  return { head, columns };
}

class Texts {
  constructor(buffer, at, rows) {
    this.length = rows;
    this.ends = new Uint32Array(buffer, at, rows);
    this.bytes = new Uint8Array(buffer, at + 4 * rows);
    this.decoder = new TextDecoder();
  }

  at(row) {
    return this.decoder.decode(this.bytes.subarray(row === 0 ? 0 : this.ends[row - 1], this.ends[row]));
  }

  // find returns the row of a text, or -1.
  find(text) {
    const wanted = new TextEncoder().encode(text);
    for (let row = 0; row < this.length; row++) {
      const from = row === 0 ? 0 : this.ends[row - 1];
      if (this.ends[row] - from !== wanted.length) continue;
      if (wanted.every((b, k) => this.bytes[from + k] === b)) return row;
    }
    return -1;
  }
}
