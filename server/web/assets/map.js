// @ts-check
// The map: nodes at their positions, coloured by prediction. It fills the element it is put in.

import { patiently, studyPath } from "./api.js";
import { Background } from "./background.js";
import { Camera } from "./camera.js";
import { parted, shadeClasses } from "./classes.js";
import { dark } from "./colour.js";
import { readColumns } from "./columns.js";
import { h, show } from "./dom.js";
import { Edges } from "./edges.js";
import { FindBox } from "./find.js";
import { count, number, plural } from "./format.js";
import { steer } from "./gestures.js";
import { legend } from "./legend.js";
import { Marked, reach } from "./marked.js";
import { NodePanel } from "./node.js";
import { complain, wordsOf } from "./notice.js";
import { drawOverlay } from "./overlay.js";
import { pictureOf } from "./picture.js";
import { Places } from "./places.js";
import { Pointing } from "./pointing.js";
import { waitWords } from "./problems.js";
import { Refresher } from "./refresher.js";
import { Scene } from "./scene.js";
import { theme } from "./theme.js";

const narrow = 700; // pixels, of a map with no room beside search and legend
const apart = 26; // pixels between nodes when a single one is looked at

export class MapView {
  // onChoose is called with the id of the node that somebody chose on the map, or null; onMove with
  // the camera as text when it has come to rest.
  /** @param {any} context @param {{ onChoose?: (node: string | null) => void, onMove?: (view: string) => void }} options */
  constructor(context, { onChoose = () => {}, onMove = () => {} } = {}) {
    this.context = context;
    this.onChoose = onChoose;
    this.onMove = onMove;
    this.camera = context.camera ??= new Camera(); // kept when the view closes
    this.by = "mean";
    this.edgesShown = true;
    this.places = null;
    this.data = null; // of the study, in the rows of places
    this.edges = null;
    this.marked = new Marked();
    this.pointing = new Pointing(context.name, this, () => this.paintOver());
    this.background = new Background(context.name, context.meta.basemap, () => this.paint());
    /** @type {{ view?: string, spot?: [number, number] }} */
    this.wanted = {}; // to be looked at, before there are places
    this.ending = new AbortController();
    this.element = this.build();
    this.refresher = new Refresher((signal) => this.load(signal), (error) => this.fail(error));
    this.learner = new Refresher((signal) => this.awaitModel(signal), (error) => this.fail(error));
    this.resizing = new ResizeObserver(() => this.resize());
    this.repaint = () => (this.data && this.by === "class" ? this.colour() : this.paint()); // classes have other colours in the dark
    dark.addEventListener("change", this.repaint);
    try {
      this.scene = new Scene(this.canvas);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => this.restore());
    this.resizing.observe(this.frame);
    steer(this.canvas, this.camera, { moved: () => this.moved(), clicked: (x, y, byKey) => this.click(x, y, byKey), hovered: (at) => this.pointing.hover(at) });
    this.refresher.refresh();
  }

  build() {
    this.canvas = h("canvas", { id: "map", tabindex: "0", role: "application", "aria-label": "Map of nodes. Arrow keys move, plus and minus zoom, 0 shows all, Enter selects the node in the middle." });
    this.over = h("canvas", { class: "map-over", "aria-hidden": "true" });
    this.status = h("p", { class: "map-status", role: "status", id: "map-status" }, "Loading the map …");
    this.legend = h("div", { class: "map-legend" });
    this.choices = h("fieldset", { class: "choices" });
    this.finder = new FindBox(this.context, (node) => this.found(node));
    this.panel = new NodePanel(this.context, () => this.pick(null));
    this.frame = h("div", { class: "map-frame" }, this.canvas, h("div", { class: "crosshair", "aria-hidden": "true" }), this.over, this.pointing.tip);
    this.top = h("div", { class: "map-top" }, this.finder.element, h("div", { class: "map-colours" }, this.legend, this.choices, this.background.element));
    return h("section", { class: "map-view", "aria-label": "Map" },
      this.frame,
      this.top,
      this.tools(),
      this.background.attribution,
      this.panel.element,
      this.status);
  }

  tools() {
    const button = (label, text, act) => h("button", { type: "button", class: "square", "aria-label": label, title: label, onclick: act }, text);
    const zoom = (factor) => () => { this.camera.scale(factor); this.moved(); };
    const edges = button("Hide or show edges", "╱", () => this.toggleEdges());
    edges.setAttribute("aria-pressed", "true");
    edges.classList.add("seldom");
    this.edgeButton = edges;
    return h("div", { class: "zoom" },
      button("Zoom in", "+", zoom(1.5)),
      button("Zoom out", "−", zoom(1 / 1.5)),
      button("Show all", "⤢", () => { this.camera.fit(); this.moved(); }),
      edges);
  }

  // refresh is called when the study has changed.
  refresh() {
    if (this.scene) this.refresher.refresh();
  }

  // load gets the places, once, and what the study knows of them. Both are asked for at once, and each
  // is drawn when it comes.
  async load(signal) {
    this.placing ??= this.loadPlaces().catch((error) => {
      this.placing = null;
      throw error;
    });
    const path = studyPath(this.context.name, "map");
    const [data] = await Promise.all([this.fetchColumns(path, signal), this.placing]);
    this.know(data);
    if (data.head.learning) this.learner.refresh();
  }

  // awaitModel gets the predictions when they are there: the answer waits for them.
  async awaitModel(signal) {
    this.know(await this.fetchColumns(`${studyPath(this.context.name, "map")}?wait=yes`, signal));
  }

  async fetchColumns(path, signal) {
    const response = await patiently("GET", path, { signal }, (problem) => this.waiting(problem));
    return readColumns(await response.arrayBuffer());
  }

  async loadPlaces() {
    const { graph } = this.context.study.settings;
    this.places = new Places(await this.fetchColumns(`/v1/graphs/${encodeURIComponent(graph)}/places`, this.ending.signal));
    const { head } = this.places;
    this.camera.whole = head.bounds.every(Number.isFinite) ? head.bounds : [0, 0, 1, 1];
    this.edges = new Edges(graph, this.places);
    this.scene.place(this.places);
    this.aim();
    this.canvas.dataset.placed = head.placed;
    this.marked.locate(this.places);
    this.background.offer(this.scene.gl, head);
    this.describe();
    this.paint();
    this.loadEdges();
  }

  // aim points the camera, once there are places and the screen has a size, at what was wanted before.
  aim() {
    if (!this.places || this.camera.width <= 1) return;
    if (this.camera.zoom === 0) this.camera.fit();
    const { view, spot } = this.wanted;
    this.wanted = {};
    if (view) this.camera.read(view);
    if (spot) this.lookAt(...spot);
  }

  async loadEdges() {
    if (!this.edges || !this.edgesShown) return;
    try {
      if (await this.edges.load(this.camera, this.ending.signal)) this.join();
    } catch (error) {
      if (!this.ending.signal.aborted) this.fail(error);
    }
  }

  join() {
    this.scene?.join(this.edgesShown ? this.edges.ends() : new Float32Array(0));
    this.canvas.dataset.edges = String(this.edgesShown ? this.edges.from.length : 0);
    this.blend();
    this.paint();
  }

  // blend colours the edges by the values of their ends.
  blend() {
    const column = this.data?.columns[this.by];
    if (!this.edges || !this.edgesShown) return;
    const values = column && this.edges.coloured ? this.edges.values(column) : null;
    this.scene?.blend(values && this.by === "class" ? parted(values) : values);
  }

  toggleEdges() {
    this.edgesShown = !this.edgesShown;
    this.edgeButton.setAttribute("aria-pressed", String(this.edgesShown));
    if (!this.edges) return;
    this.join();
    this.loadEdges();
  }

  // know takes what the study knows. An answer that was on its way for long does not replace a newer one.
  know(data) {
    if (!this.scene || (this.data && older(data.head, this.data.head))) return;
    this.data = data;
    if (data.head.classes) shadeClasses(data);
    this.pointing.forget();
    this.canvas.dataset.seq = data.head.seq;
    this.canvas.dataset.known = data.head.known ?? 0;
    this.canvas.dataset.coloured = String(data.head.model);
    if (!data.head.scales[this.by]) this.by = data.head.classes ? "class" : "mean";
    this.colour();
    this.describe();
    this.panel.refresh();
  }

  // colour gives the scene its values and marks.
  colour() {
    const { columns, head } = this.data;
    this.scene.scale(this.by, theme().shares.paper);
    this.scene.value(columns[this.by] ?? null);
    this.scene.flag(columns.flags ?? null);
    this.scene.mark(columns.mark_x, columns.mark_y, columns.mark_flags, columns[`mark_${this.by}`] ?? null);
    this.blend();
    show(this.legend, legend(this.by, this.data, this.context.study.settings.unit));
    this.offerColours(head);
    this.makeRoom();
    this.paint();
  }

  // offerColours lets one choose what the colours are.
  offerColours(head) {
    const names = { mean: "Value", sd: "How sure", chance: `Above ${number(head.level)}?` };
    const offered = Object.keys(names).filter((by) => head.scales[by]);
    const text = JSON.stringify([offered, head.level]);
    if (this.offered === text) return;
    this.offered = text;
    show(this.choices, offered.length > 1 && [h("legend", { class: "unseen" }, "Colour by"), offered.map((by) => h("label", { class: "choice" },
      h("input", { type: "radio", name: "colour-by", id: `colour-${by}`, value: by, checked: by === this.by, onchange: () => { this.by = by; this.colour(); } }), names[by]))]);
  }

  describe() {
    const { head } = this.places;
    const nodes = head.step > 1
      ? `${count(head.rows)} of ${plural(head.total, "node")} are drawn, chosen at random; search finds all.`
      : `${plural(head.placed, "node")}${head.placed < head.total ? `; ${count(head.total - head.placed)} have no place` : ""}`;
    show(this.status, [nodes, this.learning()].filter(Boolean).join(" · "));
  }

  // learning says what the colours wait for; "": nothing.
  learning() {
    const data = this.data?.head;
    const values = plural(data?.readings ?? this.context.study.values, "value");
    if (data?.learning || !data) return data?.model ? `learning from ${values}; the colours will change` : `learning from ${values} …`;
    if (data.model) return "";
    if (this.context.study.settings.labels) return "no predictions yet: nodes of two classes must be known";
    if (data.readings < 5) return "no predictions yet: at least five values that differ are needed";
    return "no predictions: the values are all equal, or no model can be fitted";
  }

  waiting(problem) {
    if (!this.places) show(this.status, waitWords(problem));
  }

  fail(error) {
    const { title, text } = wordsOf(error);
    show(this.status, h("span", { class: "refusal" }, text ? `${title}: ${text}` : title));
  }

  // makeRoom keeps the map below the legend, and the chosen node above its panel, where there is no room
  // beside them.
  makeRoom() {
    const tight = this.camera.width < narrow;
    const top = tight ? this.top.offsetHeight + this.top.offsetTop : 0;
    if (top !== this.camera.inset.top) this.covered({ top });
    this.camera.inset.bottom = tight ? this.panel.element.offsetHeight : 0;
    const { chosen } = this.marked;
    if (this.camera.inset.bottom === 0 || chosen?.x === undefined || this.camera.zoom === 0) return;
    const y = this.camera.screen(chosen.x, chosen.y)[1];
    if (y < top + reach || y > this.camera.height - this.camera.inset.bottom - reach) this.camera.look(chosen.x, chosen.y, this.camera.times());
  }

  // covered says how many pixels of the map something else covers: { top, right, bottom, left }.
  covered(inset) {
    const whole = this.camera.zoom > 0 && !this.camera.zoomed();
    Object.assign(this.camera.inset, inset);
    if (whole) this.camera.fit();
    this.paint();
  }

  resize() {
    const { width, height } = this.frame.getBoundingClientRect();
    if (width === 0 || height === 0) return; // not shown
    const whole = this.camera.zoom > 0 && !this.camera.zoomed();
    this.camera.resize(width, height);
    this.makeRoom();
    if (this.places && whole) this.camera.fit();
    this.aim();
    this.paint();
  }

  // restore gives the scene everything anew, after the system took the graphics memory.
  restore() {
    if (!this.places) return;
    this.scene = new Scene(this.canvas);
    this.background.renew(this.scene.gl);
    this.scene.place(this.places);
    this.join();
    if (this.data) this.colour();
  }

  // moved is called when the camera has moved. It redraws at once, and tells others when it rests.
  moved() {
    this.pointing.hover(null);
    this.paint();
    clearTimeout(this.moving);
    this.moving = setTimeout(() => {
      this.onMove(this.camera.text());
      this.loadEdges();
    }, 200);
  }

  paint() {
    if (!this.scene || !this.places || this.painting) return;
    this.painting = requestAnimationFrame(() => {
      this.painting = 0;
      if (this.camera.zoom > 0) this.draw();
    });
  }

  draw() {
    if (!this.colours) performance.mark("map-drawn"); // how long the first picture took
    this.colours = theme();
    this.scene.draw(this.camera, this.sizes(), this.colours.shares, () => this.background.draw(this.camera, this.colours.shares.paper, dark.matches));
    this.drawOver();
  }

  // sizes leave room between nodes; where edges have colours, nodes are as wide as they are, so that roads
  // are roads.
  sizes() {
    const between = this.places.spacing * this.camera.zoom;
    const marks = Math.max(1, this.data?.columns.mark_x.length ?? 1);
    const mark = Math.min(13, Math.max(7, 0.5 * Math.sqrt((this.camera.width * this.camera.height) / marks)));
    if (this.edges?.coloured && this.edgesShown && this.edges.from.length > 0) {
      const edge = Math.min(6, Math.max(1.5, 0.4 * between));
      return { edge, node: edge + 0.6, mark };
    }
    return { edge: 1, node: Math.min(14, Math.max(2.2, 0.5 * between)), mark };
  }

  drawOver() {
    const dense = window.devicePixelRatio || 1;
    const { width, height } = this.camera;
    const [w, t] = [Math.round(width * dense), Math.round(height * dense)];
    if (this.over.width !== w || this.over.height !== t) [this.over.width, this.over.height] = [w, t];
    const pen = this.over.getContext("2d");
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    drawOverlay(pen, this.camera, { ...this.marked.drawn(), geographic: this.places.head.coordinates === "geographic" }, this.colours ?? theme());
  }

  // pins sets the nodes with numbers, suggestions those with a question mark.
  pins(list) {
    this.mark("pins", list);
  }

  suggestions(list) {
    this.mark("suggestions", list);
    this.panel.suggest(list);
  }

  /** @param {"pins" | "suggestions"} kind */
  mark(kind, list) {
    this.marked.set(kind, list, this.places);
    this.canvas.dataset[kind] = list.map((node) => (node.number !== undefined && kind === "pins" ? `${node.number}:${node.node}` : node.node)).join(" ");
    this.paint();
  }

  async click(sx, sy, byKey = false) {
    const hit = this.pointing.under(sx, sy);
    if (hit === null) {
      this.pick(null);
      if (byKey) show(this.status, "No node is near the middle: move the map, or search for a node.");
      else if (this.places) this.describe();
      return;
    }
    try {
      this.pick(await this.pointing.factsOf(hit, this.ending.signal));
    } catch (error) {
      if (!this.ending.signal.aborted) complain(error);
    }
  }

  paintOver() {
    if (this.overing || this.painting || !this.places) return;
    this.overing = requestAnimationFrame(() => {
      this.overing = 0;
      if (this.camera.zoom > 0) this.drawOver();
    });
  }

  // pick is a choice that somebody made on the map, and choose one that was made elsewhere.
  pick(facts) {
    this.choose(facts);
    this.onChoose(facts === null ? null : facts.node);
  }

  // choose shows a node and what is known of it: an id, an object { node, x, y }, or null for none.
  choose(node) {
    const chosen = typeof node === "string" ? { node } : node;
    this.marked.chosen = chosen;
    this.paint();
    this.panel.show(chosen === null ? null : chosen.node).then((facts) => {
      if (facts && this.marked.chosen === chosen) this.marked.chosen = facts;
      this.makeRoom();
      this.paint();
    });
  }

  found(node) {
    if (node.x !== undefined) this.lookAt(node.x, node.y);
    this.pick(node);
  }

  lookAt(x, y) {
    if (!this.places || this.camera.zoom === 0) {
      this.wanted = { spot: [x, y] };
      return;
    }
    this.camera.look(x, y, Math.max(this.camera.times(), 3, apart / (this.places.spacing * this.camera.fitting())));
    this.moved();
  }

  // view is what is seen, as text for an address; look shows it.
  view() {
    return this.camera.text();
  }

  look(text) {
    if (!this.places || this.camera.zoom === 0) {
      this.wanted = { view: text };
      return;
    }
    if (text === "") this.camera.fit();
    else this.camera.read(text);
    this.moved();
  }

  // picture returns a PNG of what is seen, with its legend.
  picture() {
    const { shares: _, ...colours } = theme();
    this.draw();
    return pictureOf([this.canvas, this.over], {
      ...colours, width: this.camera.width, height: this.camera.height, by: this.by, data: this.data, title: this.context.name, unit: this.context.study.settings.unit, attribution: this.background.on ? this.context.meta.basemap.attribution : "",
    });
  }

  close() {
    this.ending.abort();
    this.pointing.close();
    this.background.close();
    this.refresher.close();
    this.learner.close();
    this.resizing.disconnect();
    this.finder.close();
    this.panel.close();
    clearTimeout(this.moving);
    cancelAnimationFrame(this.painting);
    cancelAnimationFrame(this.overing);
    dark.removeEventListener("change", this.repaint);
    this.scene?.close();
    this.scene = null;
  }
}

// older tells whether an answer knows less than another.
export function older(head, other) {
  return head.seq < other.seq || (head.seq === other.seq && (head.known ?? 0) < (other.known ?? 0));
}

