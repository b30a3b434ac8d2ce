// @ts-check
// Camera says which part of the plane is seen: the place at the middle of the
// screen, and how many pixels a unit is. y goes up in the plane and down on the
// screen. The middle of the screen never leaves the map, so that it cannot be lost.

const nearest = 5000; // times that of the whole map: positions are no finer

const nothing = { top: 0, right: 0, bottom: 0, left: 0 }; // covers the screen

export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.zoom = 0; // pixels a unit; 0: not yet set
    this.width = 1; // of the screen, in CSS pixels
    this.height = 1;
    this.whole = [0, 0, 1, 1]; // bounds of all there is to see
    this.inset = { ...nothing }; // pixels that something else covers
  }

  resize(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  // fit shows all of the bounds, in the part of the screen that nothing covers.
  fit(bounds = this.whole) {
    this.whole = bounds;
    const [x0, y0, x1, y1] = bounds;
    const { top, right, bottom, left } = this.inset;
    this.zoom = this.fitting();
    this.x = (x0 + x1) / 2 + (right - left) / 2 / this.zoom;
    this.y = (y0 + y1) / 2 + (top - bottom) / 2 / this.zoom;
  }

  // fitting is the zoom at which all is seen.
  fitting({ top, right, bottom, left } = this.inset) {
    const [x0, y0, x1, y1] = this.whole;
    const room = 0.92;
    const across = (Math.max(80, this.width - left - right) * room) / (x1 - x0 || 1e-9);
    const down = (Math.max(80, this.height - top - bottom) * room) / (y1 - y0 || 1e-9);
    const zoom = Math.min(across, down);
    return Number.isFinite(zoom) ? zoom : 1;
  }

  // move shifts what is seen by pixels.
  move(dx, dy) {
    this.x -= dx / this.zoom;
    this.y += dy / this.zoom;
    this.hold();
  }

  // scale zooms by a factor about a point of the screen.
  scale(factor, sx = this.width / 2, sy = this.height / 2) {
    const [px, py] = this.place(sx, sy);
    this.zoom = this.allowed(this.zoom * factor);
    const [qx, qy] = this.place(sx, sy);
    this.x += px - qx;
    this.y += py - qy;
    this.hold();
  }

  // look shows a place in the middle of what nothing covers, at so many times the zoom of the
  // whole map.
  look(x, y, times) {
    const { top, right, bottom, left } = this.inset;
    this.zoom = this.allowed(times * this.fitting());
    this.x = x + (right - left) / 2 / this.zoom;
    this.y = y + (top - bottom) / 2 / this.zoom;
    this.hold();
  }

  // allowed is the nearest zoom that shows something.
  allowed(zoom) {
    const fit = this.fitting();
    return Math.min(fit * nearest, Math.max(fit * 0.7, zoom));
  }

  // hold keeps the middle of what is seen over the map.
  hold() {
    const { top, right, bottom, left } = this.inset;
    const dx = (right - left) / 2 / this.zoom, dy = (top - bottom) / 2 / this.zoom;
    const [x0, y0, x1, y1] = this.whole;
    this.x = Math.min(x1, Math.max(x0, this.x - dx)) + dx;
    this.y = Math.min(y1, Math.max(y0, this.y - dy)) + dy;
  }

  // place is the point of the plane at a point of the screen, and screen the
  // other way.
  place(sx, sy) {
    return [this.x + (sx - this.width / 2) / this.zoom, this.y - (sy - this.height / 2) / this.zoom];
  }

  screen(x, y) {
    return [this.width / 2 + (x - this.x) * this.zoom, this.height / 2 - (y - this.y) * this.zoom];
  }

  // box is what is seen, and a share more on each side.
  box(more = 0) {
    const w = (this.width / 2 / this.zoom) * (1 + more), h = (this.height / 2 / this.zoom) * (1 + more);
    return [this.x - w, this.y - h, this.x + w, this.y + h];
  }

  zoomed() {
    return this.zoom > this.fitting() * 1.001;
  }

  // times is how many times larger than the whole map what is seen is drawn.
  times() {
    return this.zoom / this.fitting();
  }

  // text is what is seen as an address holds it, "" for the whole map; read is the other way, and
  // tells whether it could be read.
  text() {
    if (!this.zoomed()) return "";
    const digits = Math.max(0, Math.ceil(Math.log10(this.zoom)) + 1); // to a tenth of a pixel
    const place = (v) => String(Number(v.toFixed(Math.min(20, digits))));
    return [place(this.x), place(this.y), String(Number((this.zoom / this.fitting(nothing)).toPrecision(4)))].join(",");
  }

  read(text) {
    const [x, y, times, ...more] = String(text).split(",").map((t) => (t.trim() === "" ? NaN : Number(t)));
    if (more.length > 0 || ![x, y, times].every(Number.isFinite)) return false;
    this.zoom = this.allowed(times * this.fitting(nothing));
    [this.x, this.y] = [x, y];
    this.hold();
    return true;
  }
}
