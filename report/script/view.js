// @ts-check
// View says which part of the plane the maps show: the place in the middle and the pixels of a
// unit. y goes up in the plane and down on the screen. All maps share one view.

const nearest = 400; // times the zoom of the whole map

class View {
  /** @param {number[]} bounds left, low, right, high */
  constructor(bounds) {
    this.bounds = bounds;
    this.width = 1; // of a map, in CSS pixels
    this.height = 1;
    this.x = this.y = 0;
    this.times = 1; // zoom, as a multiple of that of the whole map
    this.whole();
  }

  whole() {
    const [x0, y0, x1, y1] = this.bounds;
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    this.times = 1;
  }

  // unit is the pixels of a unit.
  unit() {
    const [x0, y0, x1, y1] = this.bounds;
    const margin = 24;
    return this.times * Math.min((this.width - margin) / Math.max(x1 - x0, 1e-6), (this.height - margin) / Math.max(y1 - y0, 1e-6));
  }

  /** @param {number} dx @param {number} dy pixels */
  move(dx, dy) {
    const unit = this.unit();
    this.look(this.x - dx / unit, this.y + dy / unit);
  }

  // scale zooms about a point of the screen.
  /** @param {number} factor @param {number} [sx] @param {number} [sy] */
  scale(factor, sx = this.width / 2, sy = this.height / 2) {
    const before = this.place(sx, sy);
    this.times = Math.min(nearest, Math.max(1, this.times * factor));
    const after = this.place(sx, sy);
    if (this.times === 1) this.whole();
    else this.look(this.x + before[0] - after[0], this.y + before[1] - after[1]);
  }

  // look moves the middle, which never leaves the map.
  /** @param {number} x @param {number} y @param {number} [times] zoom at least */
  look(x, y, times = 1) {
    const [x0, y0, x1, y1] = this.bounds;
    this.times = Math.min(nearest, Math.max(this.times, times));
    this.x = Math.min(x1, Math.max(x0, x));
    this.y = Math.min(y1, Math.max(y0, y));
  }

  // frame says where the screen has a place: at left + x·unit, top − y·unit.
  frame() {
    const unit = this.unit();
    return { unit, left: this.width / 2 - this.x * unit, top: this.height / 2 + this.y * unit };
  }

  /** @param {number} sx @param {number} sy */
  place(sx, sy) {
    const unit = this.unit();
    return [this.x + (sx - this.width / 2) / unit, this.y - (sy - this.height / 2) / unit];
  }

  /** @param {number} x @param {number} y */
  screen(x, y) {
    const { unit, left, top } = this.frame();
    return [left + x * unit, top - y * unit];
  }
}
