// @ts-check
// Maps are the pictures of the page: they show one view, and one node is chosen on all of them.

class Maps {
  /** @param {Data} data @param {(row: number) => void} chose */
  constructor(data, chose) {
    this.data = data;
    this.chose = chose;
    this.chosen = -1;
    this.waiting = false; // to be drawn
    this.view = new View(boundsOf(data));
    this.tip = element("div", "tip");
    this.tip.hidden = true;
    document.body.append(this.tip);
    /** @type {Picture[]} */
    this.pictures = [];
    document.querySelectorAll("figure.map").forEach((figure, k) => this.add(/** @type {HTMLElement} */ (figure), data.text.maps[k]));
    addEventListener("resize", () => this.resize());
    this.resize();
  }

  // add puts a canvas with its legend in place of a still picture.
  /** @param {HTMLElement} figure @param {MapText} map */
  add(figure, map) {
    const canvas = document.createElement("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${map.title}: a map. Arrow keys move it, plus and minus zoom, 0 shows all.`);
    const live = element("div", "live");
    live.append(element("h3", "", map.title), canvas, this.legendOf(map));
    figure.prepend(live);
    figure.classList.add("alive");
    const picture = new Picture(this.data, map, this.view, canvas);
    this.pictures.push(picture);
    this.listen(canvas, picture);
  }

  /** @param {MapText} map */
  legendOf(map) {
    const legend = element("div", "legend");
    if (map.classes) {
      const names = this.data.text.classes ?? [];
      map.stops.forEach((colour, k) => {
        const last = k === map.stops.length - 1;
        if (last && !this.data.text.others) return;
        const item = element("span", "class");
        item.append(swatch(colour), element("bdi", "", last ? this.data.text.others : names[k]));
        legend.append(item);
      });
    } else {
      const bar = element("span", "bar");
      bar.style.background = `linear-gradient(to right, ${map.stops.join(", ")})`;
      legend.append(element("span", "", map.ends[0]), bar, element("span", "", map.ends[1]), element("span", "soft", map.unit));
    }
    if (this.data.marked.size > 0) {
      const mark = element("span", "class");
      mark.append(element("span", "ring"), this.data.text.mark);
      legend.append(mark);
    }
    if (map.beyond) legend.append(element("p", "soft", map.beyond));
    return legend;
  }

  resize() {
    const [x0, y0, x1, y1] = this.view.bounds;
    const width = this.pictures[0].canvas.parentElement?.clientWidth ?? 300;
    const tall = Math.min(0.95, Math.max(0.45, (y1 - y0) / Math.max(x1 - x0, 1e-9)));
    this.view.width = width;
    this.view.height = Math.round(Math.min(width * tall, 0.8 * Math.max(400, innerHeight)));
    for (const { canvas } of this.pictures) canvas.style.height = `${this.view.height}px`;
    this.draw();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      for (const p of this.pictures) {
        p.draw(this.chosen);
        p.canvas.style.touchAction = this.view.times > 1 ? "none" : "pan-y"; // the page still scrolls over the whole map
        p.canvas.dataset.zoom = String(this.view.times);
      }
    });
  }

  /** @param {number} factor */
  zoom(factor) {
    this.view.scale(factor);
    this.draw();
  }

  whole() {
    this.view.whole();
    this.draw();
  }

  /** @param {boolean} on */
  mark(on) {
    for (const p of this.pictures) p.marks = on;
    this.draw();
  }

  // choose marks a row; with show it is brought to the middle.
  /** @param {number} row @param {boolean} show */
  choose(row, show) {
    this.chosen = row;
    if (show && row >= 0 && !Number.isNaN(this.data.x[row])) {
      this.view.look(this.data.x[row], this.data.y[row], this.data.length > 50 ? Math.min(40, Math.sqrt(this.data.length) / 6) : 1);
    }
    this.draw();
  }

  /** @param {HTMLCanvasElement} canvas @param {Picture} picture */
  listen(canvas, picture) {
    /** @type {Map<number, [number, number]>} */
    const fingers = new Map();
    let moved = 0;
    const at = (/** @type {MouseEvent} */ e) => /** @type {[number, number]} */ ([e.offsetX, e.offsetY]);
    canvas.addEventListener("pointerdown", (e) => {
      fingers.set(e.pointerId, at(e));
      if (fingers.size === 1) moved = 0;
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      const before = fingers.get(e.pointerId);
      if (!before) {
        this.point(picture, e);
        return;
      }
      const now = at(e);
      const others = [...fingers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (others.length > 0) { // two fingers
        const [o] = others;
        const factor = Math.hypot(now[0] - o[0], now[1] - o[1]) / Math.max(1, Math.hypot(before[0] - o[0], before[1] - o[1]));
        this.view.scale(factor, (now[0] + o[0]) / 2, (now[1] + o[1]) / 2);
      } else {
        this.view.move(now[0] - before[0], now[1] - before[1]);
      }
      fingers.set(e.pointerId, now);
      this.tip.hidden = true;
      this.draw();
    });
    const end = (/** @type {PointerEvent} */ e) => {
      if (!fingers.delete(e.pointerId) || e.type === "pointercancel" || moved > 6 || fingers.size > 0) return;
      const row = picture.at(e.offsetX, e.offsetY, e.pointerType === "mouse" ? 8 : 22);
      this.choose(row, false);
      this.chose(row);
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    // The wheel scrolls the page until the map was clicked.
    canvas.addEventListener("wheel", (e) => {
      if (document.activeElement !== canvas && !e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      this.view.scale(Math.exp(-Math.max(-200, Math.min(200, e.deltaY)) / 250), e.offsetX, e.offsetY);
      this.draw();
    }, { passive: false });
    canvas.addEventListener("dblclick", (e) => {
      this.view.scale(2, e.offsetX, e.offsetY);
      this.draw();
    });
    canvas.addEventListener("keydown", (e) => this.key(e));
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const step = 60;
    const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    const move = moves[/** @type {keyof typeof moves} */ (e.key)];
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (move) this.view.move(move[0], move[1]);
    else if (e.key === "+" || e.key === "=") this.view.scale(1.5);
    else if (e.key === "-") this.view.scale(1 / 1.5);
    else if (e.key === "0") this.view.whole();
    else return;
    e.preventDefault();
    this.draw();
  }

  // point shows what is under the mouse.
  /** @param {Picture} picture @param {PointerEvent} e */
  point(picture, e) {
    const row = e.pointerType === "mouse" ? picture.at(e.offsetX, e.offsetY, 8) : -1;
    this.tip.hidden = row < 0;
    if (row < 0) return;
    this.tip.replaceChildren(...describe(this.data, row));
    const { clientWidth } = document.documentElement;
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(4, Math.min(clientWidth - box.width - 4, e.clientX + 14)) + scrollX}px`;
    this.tip.style.top = `${(e.clientY + 18 + box.height > innerHeight ? Math.max(4, e.clientY - box.height - 12) : e.clientY + 18) + scrollY}px`;
  }
}

// boundsOf is the rectangle around all places and areas.
/** @param {Data} data */
function boundsOf(data) {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  const add = (/** @type {number} */ x, /** @type {number} */ y) => {
    if (Number.isNaN(x + y)) return;
    x0 = Math.min(x0, x);
    x1 = Math.max(x1, x);
    y0 = Math.min(y0, y);
    y1 = Math.max(y1, y);
  };
  data.x.forEach((x, i) => add(x, data.y[i]));
  for (const parts of data.shapes) for (const { points } of parts) for (let k = 0; k < points.length; k += 2) add(points[k], points[k + 1]);
  return x0 <= x1 ? [x0, y0, x1, y1] : [0, 0, 1, 1];
}

// describe is what is known of a row: its name and the numbers of all columns.
/** @param {Data} data @param {number} row */
function describe(data, row) {
  const name = element("p", "name");
  name.append(element("bdi", "", data.ids[row]));
  if (data.labels[row]) name.append(" ", element("bdi", "soft", data.labels[row]));
  const list = document.createElement("dl");
  const { unit } = data.text;
  const say = (/** @type {string} */ what, /** @type {string} */ text) => list.append(element("dt", "", what), element("dd", "", text));
  const { columns } = data;
  for (let k = 0; k < columns.length; k++) {
    const cell = data.cell(columns[k], row);
    if (cell === "") continue;
    const of = columns[k].kind === "number" && unit ? ` ${unit}` : "";
    if (columns[k].key.endsWith("lower")) { // the interval with the column that follows
      say(columns[k].about, `${cell} to ${data.cell(columns[++k], row)}${of}`);
    } else {
      say(columns[k].about, cell + of);
    }
  }
  return [name, list];
}

/** @param {string} tag @param {string} name @param {string} [text] */
function element(tag, name, text) {
  const e = document.createElement(tag);
  if (name) e.className = name;
  if (text !== undefined) e.textContent = text;
  return e;
}

/** @param {string} colour */
function swatch(colour) {
  const s = element("span", "swatch");
  s.style.background = colour;
  return s;
}
