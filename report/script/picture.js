// @ts-check
// Picture is one map on a canvas: nodes or areas coloured by a column.

const shades = 64; // colours of a scale
const mostEdges = 80000; // that are drawn at once

class Picture {
  /** @param {Data} data @param {MapText} map @param {View} view @param {HTMLCanvasElement} canvas */
  constructor(data, map, view, canvas) {
    this.data = data;
    this.map = map;
    this.view = view;
    this.canvas = canvas;
    const style = getComputedStyle(canvas);
    this.ink = style.getPropertyValue("--ink") || "#262b33";
    this.halo = style.getPropertyValue("--halo") || "#fff";
    this.hair = style.getPropertyValue("--hair") || "#9aa1ab";
    this.colours = map.classes ? map.stops : ramp(map.stops);
    this.shade = this.shadesOf();
    this.order = this.drawingOrder();
    this.marks = true; // marked nodes are outlined
    this.gap = this.edgeLength();
  }

  // edgeLength is the median length of an edge, Infinity without any.
  edgeLength() {
    const { edges, x, y } = this.data;
    const all = [];
    for (let k = 0; k < edges.length; k += 2) {
      const far = Math.hypot(x[edges[k]] - x[edges[k + 1]], y[edges[k]] - y[edges[k + 1]]);
      if (!Number.isNaN(far)) all.push(far);
    }
    return all.length > 0 ? Float32Array.from(all).sort()[all.length >> 1] : Infinity;
  }

  // shadesOf are the numbers of the colours of all rows; those without a value have the last, grey.
  shadesOf() {
    const { values } = this.data.column(this.map.column);
    const { low, high, classes } = this.map;
    const grey = this.colours.length - 1;
    return Uint8Array.from(values, (v) => {
      if (Number.isNaN(v)) return grey;
      if (classes) return Math.min(v, grey);
      return Math.min(shades - 1, Math.max(0, Math.floor(((v - low) / (high - low || 1)) * shades)));
    });
  }

  // drawingOrder are the rows that have a place, by colour.
  drawingOrder() {
    const rows = [];
    for (let i = 0; i < this.data.length; i++) if (!Number.isNaN(this.data.x[i])) rows.push(i);
    return Uint32Array.from(rows).sort((a, b) => this.shade[a] - this.shade[b] || a - b);
  }

  // radius is that of a node in pixels: it grows more slowly than the map, and leaves room for edges.
  radius() {
    const { width, height, times } = this.view;
    const room = Math.sqrt((width * height) / (1 + this.order.length));
    const alone = Math.max(1.1, Math.min(6, 0.25 * room)) * Math.sqrt(times);
    return Math.min(9, alone, Math.max(0.5 * alone, 0.4 * this.gap * this.view.unit()));
  }

  /** @param {number} chosen row, -1 for none */
  draw(chosen) {
    const { width, height } = this.view;
    const dense = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * dense) || this.canvas.height !== Math.round(height * dense)) {
      this.canvas.width = Math.round(width * dense);
      this.canvas.height = Math.round(height * dense);
    }
    const c = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.clearRect(0, 0, width, height);
    if (this.data.shapes.length > 0) this.drawShapes(c);
    else this.drawEdges(c);
    this.drawNodes(c);
    this.drawScaleBar(c);
    if (chosen >= 0) this.drawChosen(c, chosen);
  }

  /** @param {CanvasRenderingContext2D} c */
  drawEdges(c) {
    const { edges, x, y } = this.data;
    const { width, height } = this.view;
    const { unit, left, top } = this.view.frame();
    const lines = [];
    for (let k = 0; k < edges.length; k += 2) {
      const ax = left + x[edges[k]] * unit, ay = top - y[edges[k]] * unit;
      const bx = left + x[edges[k + 1]] * unit, by = top - y[edges[k + 1]] * unit;
      if (Number.isNaN(ax + bx) || Math.max(ax, bx) < 0 || Math.min(ax, bx) > width || Math.max(ay, by) < 0 || Math.min(ay, by) > height) continue;
      lines.push(ax, ay, bx, by);
      if (lines.length > 4 * mostEdges) return; // nothing could be told apart
    }
    c.beginPath();
    for (let k = 0; k < lines.length; k += 4) {
      c.moveTo(lines[k], lines[k + 1]);
      c.lineTo(lines[k + 2], lines[k + 3]);
    }
    c.strokeStyle = this.hair;
    c.lineWidth = Math.min(1.2, Math.max(0.4, this.radius() / 4));
    c.stroke();
  }

  /** @param {CanvasRenderingContext2D} c */
  drawShapes(c) {
    for (const i of this.order) {
      const parts = this.data.shapes[i];
      if (parts.length === 0) continue;
      const path = this.pathOf(parts);
      const colour = this.colours[this.shade[i]];
      if (parts.some((p) => p.closed)) {
        c.fillStyle = colour;
        c.fill(path, "evenodd");
        c.strokeStyle = this.halo;
        c.lineWidth = 0.6;
        c.stroke(path);
      } else {
        c.strokeStyle = colour;
        c.lineWidth = Math.min(6, 2.5 * Math.sqrt(this.view.times));
        c.stroke(path);
      }
    }
  }

  /** @param {Part[]} parts */
  pathOf(parts) {
    const path = new Path2D();
    for (const { closed, points } of parts) {
      for (let k = 0; k < points.length; k += 2) {
        const [sx, sy] = this.view.screen(points[k], points[k + 1]);
        if (k === 0) path.moveTo(sx, sy);
        else path.lineTo(sx, sy);
      }
      if (closed) path.closePath();
    }
    return path;
  }

  // drawNodes draws a disc for every row without an area, and marks.
  /** @param {CanvasRenderingContext2D} c */
  drawNodes(c) {
    const { x, y, shapes, marked } = this.data;
    const { width, height } = this.view;
    const { unit, left, top } = this.view.frame();
    const r = this.radius();
    const ringed = [];
    let shade = -1;
    for (const i of this.order) {
      const sx = left + x[i] * unit, sy = top - y[i] * unit;
      if (sx < -r || sy < -r || sx > width + r || sy > height + r) continue;
      const area = (shapes[i]?.length ?? 0) > 0;
      if (this.marks && marked.has(i)) ringed.push(sx, sy, area ? 1 : 0);
      if (area) continue;
      if (this.shade[i] !== shade) {
        if (shade >= 0) c.fill();
        shade = this.shade[i];
        c.fillStyle = this.colours[shade];
        c.beginPath();
      }
      if (r < 2) c.rect(sx - r, sy - r, 2 * r, 2 * r);
      else {
        c.moveTo(sx + r, sy);
        c.arc(sx, sy, r, 0, 2 * Math.PI);
      }
    }
    if (shade >= 0) c.fill();
    // Outlines lie outside of the discs: they hide no colour of their own node.
    const thin = Math.min(1.3, Math.max(0.6, r / 5));
    c.beginPath();
    for (let k = 0; k < ringed.length; k += 3) {
      const radius = ringed[k + 2] ? 2 : r + thin / 2;
      c.moveTo(ringed[k] + radius, ringed[k + 1]);
      c.arc(ringed[k], ringed[k + 1], radius, 0, 2 * Math.PI);
    }
    c.strokeStyle = this.ink;
    c.lineWidth = thin;
    c.globalAlpha = r < 2 ? 0.4 : 1; // where they are dense
    c.stroke();
    c.globalAlpha = 1;
  }

  // drawScaleBar draws a round length where a unit is known in kilometres.
  /** @param {CanvasRenderingContext2D} c */
  drawScaleBar(c) {
    const { kilometres } = this.data.text;
    if (!(kilometres > 0)) return;
    const unit = this.view.unit() / kilometres; // pixels of a kilometre
    const longest = this.view.width / 4 / unit;
    const power = 10 ** Math.floor(Math.log10(longest));
    const length = [5, 2, 1].map((m) => m * power).find((v) => v <= longest) ?? power;
    const name = length >= 1 ? `${length} km` : `${Math.round(length * 1000)} m`;
    const right = this.view.width - 12, base = this.view.height - 10, left = right - length * unit;
    c.strokeStyle = this.ink;
    c.lineWidth = 1.2;
    c.beginPath();
    c.moveTo(left, base - 4);
    c.lineTo(left, base);
    c.lineTo(right, base);
    c.lineTo(right, base - 4);
    c.stroke();
    c.font = "12px system-ui, sans-serif";
    c.textAlign = "center";
    c.lineWidth = 3;
    c.strokeStyle = this.halo;
    c.strokeText(name, (left + right) / 2, base - 6);
    c.fillStyle = this.ink;
    c.fillText(name, (left + right) / 2, base - 6);
  }

  /** @param {CanvasRenderingContext2D} c @param {number} i */
  drawChosen(c, i) {
    const parts = this.data.shapes[i] ?? [];
    const path = new Path2D();
    if (parts.length > 0) path.addPath(this.pathOf(parts));
    else {
      const [sx, sy] = this.view.screen(this.data.x[i], this.data.y[i]);
      if (Number.isNaN(sx)) return;
      path.arc(sx, sy, this.radius() + 6, 0, 2 * Math.PI);
    }
    for (const [colour, wide] of /** @type {[string, number][]} */ ([[this.halo, 5], ["#d1005b", 2.5]])) {
      c.strokeStyle = colour;
      c.lineWidth = wide;
      c.stroke(path);
    }
  }

  // at is the row at a point of the screen, -1 if there is none near it.
  /** @param {number} sx @param {number} sy @param {number} reach pixels */
  at(sx, sy, reach) {
    const { x, y, shapes } = this.data;
    const [px, py] = this.view.place(sx, sy);
    let best = -1, least = (Math.max(reach, this.radius()) / this.view.unit()) ** 2;
    for (const i of this.order) {
      if ((shapes[i]?.length ?? 0) > 0) {
        if (within(shapes[i], px, py)) return i;
        if (shapes[i].some((p) => p.closed)) continue;
      }
      const far = (x[i] - px) ** 2 + (y[i] - py) ** 2;
      if (far <= least) [best, least] = [i, far];
    }
    return best;
  }
}

// within tells whether a place is in an area, and not in one of its holes.
/** @param {Part[]} parts @param {number} px @param {number} py */
function within(parts, px, py) {
  let inside = false;
  for (const { closed, points } of parts) {
    if (!closed) continue;
    for (let k = 0, l = points.length - 2; k < points.length; l = k, k += 2) {
      const ax = points[k], ay = points[k + 1], bx = points[l], by = points[l + 1];
      if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) inside = !inside;
    }
  }
  return inside;
}

// ramp is a scale of colours between stops, and grey.
/** @param {string[]} stops #rrggbb */
function ramp(stops) {
  const parts = stops.map((s) => [1, 3, 5].map((k) => parseInt(s.slice(k, k + 2), 16)));
  const colours = [];
  for (let k = 0; k < shades; k++) {
    const t = (k / (shades - 1)) * (parts.length - 1), i = Math.min(Math.floor(t), parts.length - 2);
    colours.push(`rgb(${parts[i].map((v, c) => Math.round(v + (t - i) * (parts[i + 1][c] - v))).join(" ")})`);
  }
  return [...colours, "#b9bec6"];
}
