// The map: nodes at their positions, coloured by prediction.

import { get, patiently, studyPath } from "./api.js";
import { Camera } from "./camera.js";
import { dark } from "./colour.js";
import { readColumns } from "./columns.js";
import { h, show } from "./dom.js";
import { count, plural } from "./format.js";
import { steer } from "./gestures.js";
import { legend } from "./legend.js";
import { NodePanel } from "./node.js";
import { complain, wordsOf } from "./notice.js";
import { Refresher } from "./refresher.js";
import { Scene, pending, selected, suggested } from "./scene.js";

const starCount = 5; // suggestions shown as stars
const reach = 14; // pixels from a click to the node it selects

// mapView shows the map of a study. The camera is kept when the view closes.
export function mapView(context) {
  context.camera ??= new Camera();
  return new MapView(context);
}

class MapView {
  constructor(context) {
    this.context = context;
    this.camera = context.camera;
    this.by = "mean";
    this.edges = true;
    this.data = null;
    this.stars = [];
    this.chosen = null; // the node that was clicked: its id, and what is known of it
    this.element = this.build();
    this.refresher = new Refresher((signal) => this.load(signal), (error) => this.fail(error));
    this.starring = new Refresher((signal) => this.loadStars(signal), () => {}, 2000);
    this.resizing = new ResizeObserver(() => this.resize());
    this.repaint = () => this.paint();
    dark.addEventListener("change", this.repaint);
    try {
      this.scene = new Scene(this.canvas);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.resizing.observe(this.canvas);
    steer(this.canvas, this.camera, { moved: () => this.moved(), clicked: (x, y) => this.click(x, y) });
    this.refresh();
  }

  build() {
    this.canvas = h("canvas", { id: "map", tabindex: "0", role: "application", "aria-label": "Map of nodes. Arrow keys move, plus and minus zoom, 0 shows all, Enter selects the node in the middle." });
    this.status = h("p", { class: "soft", role: "status", id: "map-status" }, "Loading the map …");
    this.legend = h("div", { class: "map-legend" });
    this.panel = new NodePanel(this.context, () => this.choose(null));
    return h("div", { class: "map-view" },
      h("div", { class: "card map-card" },
        this.toolbar(),
        h("div", { class: "map-frame" }, this.canvas, h("div", { class: "crosshair", "aria-hidden": "true" })),
        this.legend,
        this.status),
      h("div", { class: "map-side" }, this.panel.element));
  }

  toolbar() {
    const colourBy = (value, label) => h("label", { class: "choice" },
      h("input", { type: "radio", name: "colour-by", value, checked: value === this.by, onchange: () => this.colourBy(value) }), label);
    const find = h("input", { id: "find", type: "search", placeholder: "Node id", "aria-label": "Find a node by its id", autocomplete: "off" });
    const button = (label, text, act) => h("button", { type: "button", class: "square", "aria-label": label, title: label, onclick: act }, text);
    return h("div", { class: "toolbar" },
      h("fieldset", { class: "choices" }, h("legend", null, "Colour by"), colourBy("mean", "mean"), colourBy("sd", "standard deviation")),
      h("label", { class: "choice" },
        h("input", { type: "checkbox", checked: true, onchange: (e) => { this.edges = e.target.checked; this.refresh(); } }), "edges"),
      h("form", { class: "find", role: "search", onsubmit: (e) => { e.preventDefault(); this.find(find.value.trim()); } },
        find, h("button", null, "Find")),
      h("div", { class: "zoom" },
        button("Zoom in", "+", () => { this.camera.scale(1.5); this.moved(); }),
        button("Zoom out", "−", () => { this.camera.scale(1 / 1.5); this.moved(); }),
        button("Show all", "⤢", () => { this.camera.fit(); this.moved(); })));
  }

  // refresh is called when the study has changed.
  refresh() {
    if (!this.scene) return;
    this.refresher.refresh();
    this.starring.refresh();
  }

  async load(signal) {
    const query = new URLSearchParams({ nodes: this.context.meta.limits.map_nodes });
    if (!this.edges) query.set("edges", "no");
    if (this.large && this.camera.zoomed()) query.set("box", this.camera.box(0.3).join(","));
    const path = `${studyPath(this.context.name, "map")}?${query}`;
    const response = await patiently("GET", path, { signal }, (problem) => this.waiting(problem));
    const data = readColumns(await response.arrayBuffer());
    if (this.camera.zoom === 0 || this.data === null) {
      this.camera.whole = data.head.bounds;
      if (this.camera.zoom === 0) this.camera.fit();
    }
    this.data = data;
    this.large = data.head.total > this.context.meta.limits.map_nodes; // the nodes drawn depend on the camera
    this.scene.join(data.columns.edge_from, data.columns.edge_to);
    this.arrange();
    this.describe();
    this.panel.refresh();
  }

  async loadStars(signal) {
    const path = `${studyPath(this.context.name, "candidates")}?count=${starCount}`;
    const answer = this.context.study.status === "open" ? await (await patiently("GET", path, { signal })).json() : { candidates: [] };
    this.stars = answer.candidates;
    this.arrange();
  }

  colourBy(by) {
    this.by = by;
    this.arrange();
  }

  // arrange gives the scene its nodes: those that the server sent, and suggested or
  // selected nodes that were thinned out.
  arrange() {
    if (!this.data) return;
    const { head, columns } = this.data;
    const marked = [...this.stars.map((s) => [s, suggested]), ...(this.chosen ? [[this.chosen, selected]] : [])];
    const rows = marked.map(([{ node }]) => columns.id.find(node));
    const extra = marked.filter(([node], k) => rows[k] < 0 && node.x !== undefined);
    const joined = (column, of, Kind) => Kind.from([...column, ...extra.map(([node, flag]) => of(node, flag))]);
    const flags = joined(columns.flags, (_, flag) => flag, Uint8Array);
    marked.forEach(([, flag], k) => {
      if (rows[k] >= 0 && !(flag === suggested && flags[rows[k]] & pending)) flags[rows[k]] |= flag;
    });
    this.scene.place(joined(columns.x, (n) => n.x, Float32Array), joined(columns.y, (n) => n.y, Float32Array));
    this.scene.flag(flags);
    if (head.model) this.scene.value(joined(columns[this.by], (n) => n[this.by] ?? 0, Float32Array), head.range[this.by], this.by);
    else this.scene.value(null, [0, 1], this.by);
    show(this.legend, legend(this.by, head, columns.flags));
    this.paint();
  }

  describe() {
    const { head } = this.data;
    const all = head.thinned
      ? `${count(head.shown)} of ${count(head.visible)} visible nodes are drawn, each in place of the nodes around it; zoom in to see all.`
      : `${plural(head.shown, "node")}.`;
    const model = head.model ? "" : " No predictions yet: at least five measurements, not all equal, are needed.";
    show(this.status, all + model);
    this.canvas.dataset.seq = head.seq;
  }

  waiting(problem) {
    show(this.status, problem.detail || "The server is working; the map will appear.");
  }

  fail(error) {
    const { title, text } = wordsOf(error);
    show(this.status, h("span", { class: "refusal" }, text ? `${title}: ${text}` : title));
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const whole = this.camera.zoom > 0 && !this.camera.zoomed();
    this.camera.resize(width, height);
    if (whole || (this.data && this.camera.zoom === 0)) this.camera.fit();
    this.paint();
  }

  // moved is called when the camera has moved. It redraws at once, and soon loads nodes
  // that were thinned out.
  moved() {
    this.paint();
    clearTimeout(this.moving);
    if (this.large) this.moving = setTimeout(() => this.refresher.refresh(), 200);
  }

  paint() {
    if (!this.scene || !this.data || this.painting) return;
    this.painting = requestAnimationFrame(() => {
      this.painting = 0;
      const size = this.nodeSize();
      this.scene.draw(this.camera, size, Math.max(13, size * 1.6), theme());
    });
  }

  // nodeSize leaves room between nodes for their edges, unless nodes stand for others.
  nodeSize() {
    const { head, columns: { x, y } } = this.data;
    const view = this.camera.box();
    const [x0, y0] = [0, 1].map((k) => Math.max(view[k], head.bounds[k]));
    const [x1, y1] = [2, 3].map((k) => Math.min(view[k], head.bounds[k]));
    let seen = 1;
    for (let i = 0; i < x.length; i++) if (x[i] >= x0 && x[i] <= x1 && y[i] >= y0 && y[i] <= y1) seen++;
    const apart = this.camera.zoom * Math.sqrt((Math.max(0, x1 - x0) * Math.max(0, y1 - y0)) / seen);
    return Math.min(14, Math.max(2.5, (head.thinned ? 1.1 : 0.5) * apart));
  }

  click(sx, sy) {
    if (!this.data) return;
    const { x, y, id } = this.data.columns;
    let nearest = -1, least = reach * reach;
    for (let i = 0; i < x.length; i++) {
      const [px, py] = this.camera.screen(x[i], y[i]);
      const d = (px - sx) ** 2 + (py - sy) ** 2;
      if (d < least) [nearest, least] = [i, d];
    }
    this.choose(nearest < 0 ? null : { node: id.at(nearest) });
  }

  choose(node) {
    this.chosen = node;
    this.panel.show(node === null ? null : node.node);
    this.arrange();
  }

  async find(id) {
    if (id === "" || !this.data) return;
    const { columns } = this.data;
    const row = columns.id.find(id);
    try {
      const node = row >= 0
        ? { node: id, x: columns.x[row], y: columns.y[row] }
        : (await get(`${studyPath(this.context.name, "predictions")}?node=${encodeURIComponent(id)}`)).nodes[0];
      if (node.x !== undefined) this.lookAt(node.x, node.y);
      this.choose(node);
    } catch (error) {
      complain(error);
    }
  }

  lookAt(x, y) {
    this.camera.x = x;
    this.camera.y = y;
    this.camera.zoom = Math.max(this.camera.zoom, 3 * this.camera.fitting());
    this.moved();
  }

  close() {
    this.refresher.close();
    this.starring.close();
    this.resizing.disconnect();
    this.panel.close();
    clearTimeout(this.moving);
    cancelAnimationFrame(this.painting);
    dark.removeEventListener("change", this.repaint);
    this.scene?.close();
    this.scene = null;
  }
}

// theme reads the colours of the page, as shares of red, green and blue.
function theme() {
  const style = getComputedStyle(document.documentElement);
  const rgb = (name) => [1, 3, 5].map((k) => parseInt(style.getPropertyValue(name).trim().slice(k, k + 2), 16) / 255);
  return { ink: rgb("--ink"), paper: rgb("--card"), plain: rgb("--plain"), line: [...rgb("--edge"), 0.55] };
}
