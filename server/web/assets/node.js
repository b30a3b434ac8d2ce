// @ts-check
// NodePanel shows what is known of a node, and takes a measurement of it. A reserved node is
// measured on its card.

import { Once, get, post, studyPath } from "./api.js";
import { chanceList } from "./classes.js";
import { h, show } from "./dom.js";
import { number, percent } from "./format.js";
import { busy, complain, say } from "./notice.js";
import { person } from "./person.js";
import { ReadingForm } from "./reading-form.js";
import { may } from "./role.js";

export class NodePanel {
  constructor(context, dismiss) {
    this.context = context;
    this.dismiss = dismiss;
    this.id = null;
    this.suggested = new Map(); // by id
    this.element = h("section", { class: "card node-panel", "aria-live": "polite", "aria-label": "Chosen node", hidden: true });
  }

  // show shows a node, or none if id is null, and returns what is known of it.
  async show(id) {
    if (id !== this.id) {
      this.id = id;
      this.element.hidden = id === null;
      this.known = null;
      this.form?.close();
      this.form = null;
      if (id === null) {
        show(this.element);
        return null;
      }
      this.title = h("h2", { class: "id" }, id);
      this.facts = h("dl", null);
      this.actions = h("div", null);
      this.entry = h("div", null);
      show(this.element,
        h("div", { class: "between" }, this.title,
          h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.dismiss() }, "✕")),
        this.facts, this.actions, this.entry);
      this.showEntry();
    }
    return this.refresh();
  }

  // suggest says which nodes are suggested, and why.
  suggest(candidates) {
    this.suggested = new Map(candidates.map((c) => [c.node, c]));
    if (this.known) this.tell(this.known);
  }

  // refresh loads what is known again.
  async refresh() {
    const { id } = this;
    if (id === null) return null;
    try {
      const { nodes: [facts] } = await get(`${studyPath(this.context.name, "nodes")}?node=${encodeURIComponent(id)}`);
      if (this.id === id) this.tell(facts);
      return facts;
    } catch (error) {
      if (this.id === id && error.kind !== "loading") complain(error);
      return null;
    }
  }

  tell(node) {
    if (node.node !== this.id) return;
    this.known = node;
    const unit = this.context.study.settings.unit;
    const of = (v) => (unit ? `${number(v)} ${unit}` : number(v));
    const facts = [
      node.label && ["Node", h("span", { class: "id" }, node.node)],
      Number.isFinite(node.lat) && ["Place", `${node.lat.toFixed(5)}, ${node.lon.toFixed(5)}`],
      node.told !== undefined ? ["Found to be", node.told] : ["Measured", node.measured ? `${of(node.value)}${node.n > 1 ? `, mean of ${node.n}` : ""}` : "no"],
      ...(node.chances ? [["Probable classes", chanceList(node.chances)]] : Number.isFinite(node.mean) ? [
        ["Predicted mean", of(node.mean)],
        ["95 % credible interval", `${number(node.lower)} to ${of(node.upper)}`],
        Number.isFinite(node.reading_lower) && ["95 % interval of a reading", `${number(node.reading_lower)} to ${of(node.reading_upper)}`],
        Number.isFinite(node.above) && ["Chance of being above", percent(node.above)],
      ] : [["Prediction", "none yet"]]),
      node.pending && ["Reserved", node.holder === person() && node.holder ? "by you" : node.holder ? `by ${node.holder}` : "yes"],
      node.abandoned && ["Abandoned", "never suggested again"],
      node.forbidden && ["Not allowed", "never suggested"],
    ].filter(Boolean);
    show(this.title, node.label || node.node);
    show(this.facts, facts.map(([name, text]) => [h("dt", null, name), h("dd", null, text)]));
    show(this.actions, this.offer(node));
    this.showEntry();
  }

  // showEntry shows the field for a measurement, or the way to the card of a node that is
  // reserved. A field in which somebody types, or
  // that tells what became of a value, stays.
  showEntry() {
    if (!may(this.context.meta, "measure")) return;
    const reserved = this.known?.pending && this.context.enter && !this.form?.isNeeded();
    if (reserved) {
      if (this.entry.querySelector("#to-card")) return;
      this.form?.close();
      this.form = null;
      show(this.entry, h("p", null, h("button", { type: "button", id: "to-card", class: "primary", onclick: () => this.context.enter(this.id) }, "Enter its result")));
    } else if (!this.form) {
      this.form = new ReadingForm(this.context, this.id, () => this.known);
      show(this.entry, this.form.element);
    }
  }

  // offer says that a node is suggested, and lets one take it.
  offer(node) {
    const candidate = this.suggested.get(node.node);
    if (!candidate || node.pending || node.measured) return null;
    const take = async () => {
      try {
        const body = { nodes: [node.node], holder: person() };
        await post(studyPath(this.context.name, "asks"), body, { headers: new Once().headers(body) });
        say(`${node.label || node.node} is reserved for you.`);
        this.context.changed();
      } catch (error) {
        complain(error);
      }
    };
    const button = h("button", { type: "button", id: "take-node", onclick: () => busy(button, take) }, "Take it");
    return [h("p", { class: "why" }, h("b", null, "Suggested"), candidate.why ? `: ${candidate.why}` : ""), may(this.context.meta, "measure") && h("p", null, button)];
  }

  close() {
    this.form?.close();
    this.id = null;
  }
}
