// @ts-check
// The data of the report: columns with a row per node, in the order of the file.

/** @typedef {"number" | "whole" | "tenth" | "share" | "class"} Kind */
/** @typedef {{ key: string, name: string, about: string, kind: Kind, data?: string, sds?: number, noise?: number }} ColumnText */
/** @typedef {{ key: string, name: string, about: string, kind: Kind, values: Float32Array | Uint16Array }} Column */
/** @typedef {{ column: string, title: string, unit: string, low: number, high: number, ends: string[], beyond: string, stops: string[], classes?: boolean }} MapText */
/** @typedef {{ ids: string[], labels?: string[], x: string, y: string, kilometres: number, edges: string, shapes: string, grid: number, decimals: number, unit: string, classes?: string[], others?: string, marked: string, mark: string, columns: ColumnText[], maps: MapText[], file: string }} DataText */

/** @param {string} text */
function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

/** @param {string} text */
function floatsOf(text) {
  return new Float32Array(bytesOf(text).buffer);
}

// wholeNumbers yields the numbers of a text of seven bits a byte, the lowest first.
/** @param {string} text */
function* wholeNumbers(text) {
  let value = 0, scale = 1;
  for (const byte of bytesOf(text)) {
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte < 128) {
      yield value;
      value = 0;
      scale = 1;
    }
  }
}

// edgesOf are pairs of rows. The text has, for every row, the number of its neighbours in later
// rows and the gaps between them.
/** @param {string} text */
function edgesOf(text) {
  const pairs = [];
  let row = -1, left = 0, to = 0;
  for (const v of wholeNumbers(text)) {
    if (left === 0) {
      row++;
      left = v;
      to = row;
    } else {
      to += v;
      pairs.push(row, to);
      left--;
    }
  }
  return Uint32Array.from(pairs);
}

/** @typedef {{ closed: boolean, points: Float32Array }} Part a ring or a line, x and y in turn */

// shapesOf are the parts of the area of every row. The text has, for every row, the number of its
// parts, and for each of them twice the number of its points, and one more if it is closed, and the
// points: steps on a grid, with the sign in the lowest bit.
/** @param {string} text @param {number} grid */
function shapesOf(text, grid) {
  /** @type {Part[][]} */
  const rows = [];
  const numbers = wholeNumbers(text);
  const next = () => Number(numbers.next().value);
  const step = () => {
    const v = next();
    return v % 2 === 0 ? v / 2 : -(v + 1) / 2;
  };
  for (let first = numbers.next(); !first.done; first = numbers.next()) {
    const parts = [];
    let x = 0, y = 0;
    for (let p = 0; p < first.value; p++) {
      const size = next();
      const points = new Float32Array(size - (size % 2));
      for (let k = 0; k < points.length; k += 2) {
        points[k] = (x += step()) / grid;
        points[k + 1] = (y += step()) / grid;
      }
      parts.push({ closed: size % 2 === 1, points });
    }
    rows.push(parts);
  }
  return rows;
}

// Data is the text of the page as columns.
class Data {
  /** @param {DataText} text */
  constructor(text) {
    this.text = text;
    this.ids = text.ids;
    this.labels = text.labels ?? [];
    this.length = text.ids.length;
    this.x = floatsOf(text.x);
    this.y = floatsOf(text.y);
    this.edges = edgesOf(text.edges);
    this.shapes = shapesOf(text.shapes, text.grid);
    this.marked = new Set(wholeNumbers(text.marked));
    /** @type {Column[]} */
    this.columns = [];
    for (const c of text.columns) this.columns.push({ key: c.key, name: c.name, about: c.about, kind: c.kind, values: this.valuesOf(c) });
  }

  // valuesOf are those of a column, or so many standard deviations from the mean, with noise.
  /** @param {ColumnText} c */
  valuesOf(c) {
    if (c.data !== undefined) return c.kind === "class" ? new Uint16Array(bytesOf(c.data).buffer) : floatsOf(c.data);
    const mean = this.column("mean").values, sd = this.column("sd").values;
    return mean.map((m, i) => m + (c.sds ?? 0) * Math.hypot(sd[i], c.noise ?? 0));
  }

  /** @param {string} key */
  column(key) {
    const found = this.columns.find((c) => c.key === key);
    if (!found) throw new Error(`no column ${key}`);
    return found;
  }

  // cell is what people read in a column.
  /** @param {Column} column @param {number} row */
  cell(column, row) {
    const v = column.values[row];
    if (column.kind === "class") return this.text.classes?.[v] ?? "";
    if (Number.isNaN(v)) return "";
    return this.number(v, { number: this.text.decimals, whole: 0, tenth: 1, share: 3 }[column.kind]);
  }

  // number has so many digits, and separates thousands.
  /** @param {number} v @param {number} decimals */
  number(v, decimals) {
    if (decimals < 0) { // very large or very small ones
      const [digits, power] = v.toExponential(3).split("e");
      return v === 0 ? "0" : `${digits} × 10^${Number(power)}`.replaceAll("-", "−");
    }
    const fixed = v.toFixed(decimals);
    const [whole, part] = fixed.replace("-", "").split(".");
    const sign = Number(fixed) < 0 ? "−" : "";
    return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? `.${part}` : "");
  }

  // found are the rows whose id or label has a text: the same, beginning with it, within it.
  /** @param {string} text @param {number} most */
  found(text, most) {
    const wanted = text.trim().toLowerCase();
    /** @type {number[][]} */
    const ranks = [[], [], []];
    if (wanted === "") return [];
    for (let i = 0; i < this.length; i++) {
      const rank = Math.min(rankOf(this.ids[i], wanted), rankOf(this.labels[i] ?? "", wanted));
      if (rank < 3 && ranks[rank].length < most) ranks[rank].push(i);
    }
    return ranks.flat().slice(0, most);
  }
}

/** @param {string} text @param {string} wanted */
function rankOf(text, wanted) {
  const at = text.toLowerCase().indexOf(wanted);
  return at < 0 ? 3 : at > 0 ? 2 : text.length === wanted.length ? 0 : 1;
}
