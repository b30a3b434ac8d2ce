// @ts-check
// The one screen: the map, and beside or below it what to measure: one's own nodes, and those
// that are suggested.

import { Above } from "./above.js";
import { get, studyPath } from "./api.js";
import { Cards } from "./cards.js";
import { h } from "./dom.js";
import { MapView } from "./map.js";
import { note } from "./route.js";
import { Sheet } from "./sheet.js";
import { Suggestions } from "./suggestions.js";
import { TrustLine } from "./trustline.js";

export function nextView(context) {
  return new NextView(context);
}

class NextView {
  constructor(context) {
    this.context = context;
    this.split = true; // the study page makes room for the map
    this.node = null; // the id of the node that is chosen
    const onShow = (node) => this.show(node);
    this.map = new MapView(context, { onChoose: (id) => this.chosen(id), onMove: (at) => note({ at: at || null }) });
    this.cards = new Cards(context, { onShow, onPins: (list) => this.map.pins(list) });
    this.suggestions = new Suggestions(context, { onShow, onList: (list) => this.suggested(list), onTaken: (node) => this.cards.expect(node) });
    context.enter = (node) => this.cards.expect(node); // to its card, from wherever it is shown
    this.trust = new TrustLine(context);
    this.above = context.study.settings.goal.startsWith("threshold") ? new Above(context, { onShow }) : null;
    /** @type {any[]} */
    this.parts = [this.map, this.cards, this.suggestions, this.trust, this.above].filter(Boolean);
    this.element = h("div", { class: "screen" });
    this.sheet = new Sheet(this.element, this.cards.element, this.suggestions.element, this.above?.element, this.trust.element);
    this.element.append(this.sheet.element, h("div", { class: "screen-map" }, this.map.element));
  }

  // suggested is told which nodes are suggested. By then the model is there, of which cards that
  // came before it know nothing.
  suggested(list) {
    this.map.suggestions(list);
    if (!this.modelled) this.cards.refresh();
    this.modelled = true;
  }

  // show brings a node to the middle of the map, and chooses it: a node as the server describes
  // it, or its id.
  async show(node) {
    const id = node.node ?? node;
    this.chosen(id);
    this.map.choose(id);
    try {
      const { x, y } = node.x === undefined ? (await get(`${studyPath(this.context.name, "nodes")}?node=${encodeURIComponent(id)}`)).nodes[0] : node;
      if (x !== undefined && this.node === id) this.map.lookAt(x, y);
    } catch {
      // The panel of the node says what is wrong.
    }
  }

  // chosen keeps the chosen node in the address, and finds its card; null: none is chosen.
  chosen(id) {
    if (id === this.node) return;
    this.node = id;
    note({ node: id }, { step: true });
    this.element.querySelector(`.trial[data-node="${CSS.escape(id ?? "")}"]`)?.scrollIntoView({ block: "nearest" });
  }

  // go shows what an address says.
  go(query) {
    const id = query.get("node"), at = query.get("at");
    if (at !== null) this.map.look(at);
    if (id === this.node) return;
    this.node = id;
    if (id !== null && at === null) this.show(id);
    else this.map.choose(id);
  }

  picture() {
    return this.map.picture();
  }

  refresh() {
    for (const part of this.parts) part.refresh();
  }

  events(events) {
    for (const part of this.parts) part.events?.(events);
  }

  close() {
    this.context.enter = null;
    for (const part of this.parts) part.close();
  }
}
