// @ts-check
// Places are the positions of the nodes of a graph, one row per node that is drawn. They stay as
// the server sent them, whole numbers within a frame: the graphics take them as they are.

export class Places {
  constructor({ head, columns }) {
    this.head = head;
    this.x = columns.x;
    this.y = columns.y;
    const [x0, y0, wide, high] = head.frame;
    this.x0 = x0;
    this.y0 = y0;
    this.wide = wide;
    this.high = high;
    this.top = head.top;
    this.rows = head.rows;
    // Rows are in the cells of a grid, so that no search looks at all of them.
    this.side = Math.max(1, Math.min(512, Math.round(Math.sqrt(this.rows) / 2)));
    this.starts = new Uint32Array(this.side * this.side + 1); // rows of cell c: order[starts[c]] … order[starts[c + 1] - 1]
    this.spacing = this.spacingIn(this.count());
  }

  // cellOf is the cell of a row, -1 if it has no place.
  /** @param {number} row */
  cellOf(row) {
    const { x, y, top, side } = this;
    const share = side / (top + 1);
    return x[row] === top && y[row] === top ? -1 : Math.floor(y[row] * share) * side + Math.floor(x[row] * share);
  }

  // count finds out where the cells begin, and returns how many have rows.
  count() {
    const { starts, rows } = this;
    for (let row = 0; row < rows; row++) {
      const cell = this.cellOf(row);
      if (cell >= 0) starts[cell + 1]++;
    }
    let occupied = 0;
    for (let c = 1; c < starts.length; c++) {
      if (starts[c] > 0) occupied++;
      starts[c] += starts[c - 1];
    }
    return occupied;
  }

  // order are the rows by cells. It is made by the first search: nothing needs it before the first
  // picture.
  get order() {
    if (!this.ordered) {
      const next = this.starts.slice();
      this.ordered = new Uint32Array(this.placed);
      for (let row = 0; row < this.rows; row++) {
        const cell = this.cellOf(row);
        if (cell >= 0) this.ordered[next[cell]++] = row;
      }
    }
    return this.ordered;
  }

  // placed is the number of rows with a place.
  get placed() {
    return this.starts[this.starts.length - 1];
  }

  // spacingIn is how far nodes are apart where there are some, in units of the plane.
  /** @param {number} occupied */
  spacingIn(occupied) {
    const placed = Math.max(1, this.placed);
    const area = (this.wide * this.high * occupied) / (this.side * this.side);
    return area > 0 ? Math.sqrt(area / placed) : Math.max(this.wide, this.high) / placed;
  }

  // at is the position of a row, null where it has none.
  at(row) {
    if (this.x[row] === this.top && this.y[row] === this.top) return null;
    return this.position(this.x[row], this.y[row]);
  }

  // position is that of whole numbers within the frame, and within the other way, unrounded.
  position(qx, qy) {
    return [this.x0 + (qx / this.top) * this.wide, this.y0 + (qy / this.top) * this.high];
  }

  within(x, y) {
    return [this.wide > 0 ? ((x - this.x0) / this.wide) * this.top : 0, this.high > 0 ? ((y - this.y0) / this.high) * this.top : 0];
  }

  // nearest is the row that is nearest to a position, at most so far from it; -1: there is none.
  nearest(x, y, reach) {
    const { order } = this;
    let best = -1, least = reach * reach;
    this.eachIn([x - reach, y - reach, x + reach, y + reach], (from, to) => {
      for (let k = from; k < to; k++) {
        const [px, py] = this.position(this.x[order[k]], this.y[order[k]]);
        const d = (px - x) ** 2 + (py - y) ** 2;
        if (d <= least) [best, least] = [order[k], d];
      }
    });
    return best;
  }

  // countIn is about how many rows are in a box.
  countIn(box) {
    let count = 0;
    this.eachIn(box, (from, to) => { count += to - from; });
    return count;
  }

  // eachIn calls visit with the parts of order whose cells a box touches.
  eachIn([bx0, by0, bx1, by1], visit) {
    const cell = (v) => Math.max(0, Math.min(this.side - 1, Math.floor((v * this.side) / (this.top + 1))));
    const [x0, y0] = this.within(bx0, by0).map(cell);
    const [x1, y1] = this.within(bx1, by1).map(cell);
    for (let cy = y0; cy <= y1; cy++) visit(this.starts[cy * this.side + x0], this.starts[cy * this.side + x1 + 1]);
  }

  // number is the number of the node in a row. Of a very large graph, one of every step nodes is drawn.
  number(row) {
    const { step, total } = this.head;
    const first = row * step;
    return first + (mixed(row) % Math.min(step, total - first));
  }

  // rowOf is the row of a node by its number, -1 if it is not drawn.
  rowOf(number) {
    const row = Math.floor(number / this.head.step);
    return this.number(row) === number ? row : -1;
  }

  // project returns the position of a place on the globe.
  project(lat, lon) {
    const { lon: middle, shrink } = this.head.projection;
    const east = ((((lon - middle + 180) % 360) + 360) % 360) - 180;
    return [east * shrink, lat];
  }
}

// mixed is the hash of the server, which says which nodes of a very large graph are drawn.
export function mixed(h) {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
