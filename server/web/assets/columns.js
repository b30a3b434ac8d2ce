// @ts-check
// Binary columns as the server sends them: a JSON head, then arrays.

const magic = "GRFGPCO1";
const arrays = { float32: Float32Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array };

// readColumns returns the head and the columns by name, as views of the buffer.
export function readColumns(buffer) {
  const text = new TextDecoder();
  if (text.decode(new Uint8Array(buffer, 0, 8)) !== magic) throw new Error("these are no columns of grfgp");
  const size = new DataView(buffer).getUint32(8, true);
  const head = JSON.parse(text.decode(new Uint8Array(buffer, 12, size)));
  const columns = {};
  for (const { name, type, rows, offset } of head.columns) columns[name] = new arrays[type](buffer, 12 + size + offset, rows);
  return { head, columns };
}
