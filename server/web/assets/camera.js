// Camera says which part of the plane is seen: the place at the middle of the
// screen, and how many pixels a unit is. y goes up in the plane and down on the
// screen.

export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.zoom = 0; // pixels a unit; 0: not yet set
    this.width = 1; // of the screen, in CSS pixels
    this.height = 1;
    this.whole = [0, 0, 1, 1]; // bounds of all there is to see
  }

  resize(width, height) {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  // fit shows all of the bounds.
  fit(bounds = this.whole) {
    this.whole = bounds;
    const [x0, y0, x1, y1] = bounds;
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    this.zoom = this.fitting();
  }

  // fitting is the zoom at which all is seen.
  fitting() {
    const [x0, y0, x1, y1] = this.whole;
    const room = 0.92;
    const across = (this.width * room) / (x1 - x0 || 1e-9);
    const down = (this.height * room) / (y1 - y0 || 1e-9);
    const zoom = Math.min(across, down);
    return Number.isFinite(zoom) ? zoom : 1;
  }

  // move shifts what is seen by pixels.
  move(dx, dy) {
    this.x -= dx / this.zoom;
    this.y += dy / this.zoom;
  }

  // scale zooms by a factor about a point of the screen.
  scale(factor, sx = this.width / 2, sy = this.height / 2) {
    const [px, py] = this.place(sx, sy);
    const fit = this.fitting();
    this.zoom = Math.min(fit * 20_000, Math.max(fit / 2, this.zoom * factor));
    const [qx, qy] = this.place(sx, sy);
    this.x += px - qx;
    this.y += py - qy;
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
}
