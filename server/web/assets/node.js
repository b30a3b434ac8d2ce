// NodePanel says what is known of one node, and takes a value measured there.

import { Once, get, post, put, studyPath } from "./api.js";
import { field, h, show } from "./dom.js";
import { number, parseNumber } from "./format.js";
import { accept, busy, complain, refuse, say } from "./notice.js";
import { person } from "./person.js";

export class NodePanel {
  constructor(context, dismiss) {
    this.context = context;
    this.dismiss = dismiss;
    this.id = null;
    this.element = h("section", { class: "card node-panel", "aria-live": "polite", "aria-label": "Chosen node" });
    this.empty();
  }

  empty() {
    this.element.classList.remove("chosen");
    show(this.element, h("h2", null, "Node"), h("p", { class: "soft" }, "Pick a node on the map to see its value and interval, or find it by its id. Drag to move, scroll or pinch to zoom."));
  }

  // show tells of a node; null: of none.
  async show(id) {
    if (id !== this.id) {
      this.id = id;
      if (id === null) return this.empty();
      this.facts = h("dl", null);
      this.element.classList.add("chosen");
      show(this.element,
        h("div", { class: "between" },
          h("h2", { class: "id" }, id),
          h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.dismiss() }, "✕")),
        this.facts,
        this.context.meta.read_only ? null : this.form());
    }
    await this.refresh();
  }

  // refresh tells the latest of the node.
  async refresh() {
    const { id } = this;
    if (id === null) return;
    try {
      const answer = await get(`${studyPath(this.context.name, "predictions")}?node=${encodeURIComponent(id)}`);
      if (this.id === id) this.tell(answer.nodes[0]);
    } catch (error) {
      if (this.id !== id || error.kind === "loading") return;
      if (error.kind === "no-model") show(this.facts, h("dt", null, "Prediction"), h("dd", null, "none yet: at least five values that differ are needed"));
      else complain(error);
    }
  }

  tell(node) {
    const facts = [
      ["Predicted mean", number(node.mean)],
      ["Interval of 95 %", `${number(node.lower)} to ${number(node.upper)}`],
      ["Uncertainty (sd)", number(node.sd)],
      ["Measured", node.measured ? `${number(node.value)}${node.n > 1 ? `, mean of ${node.n}` : ""}` : "no"],
    ];
    if (node.pending) facts.push(["Reserved", "yes: somebody is measuring it"]);
    if (node.abandoned) facts.push(["Abandoned", "yes: it is never suggested again"]);
    show(this.facts, facts.map(([name, text]) => [h("dt", null, name), h("dd", null, text)]));
  }

  form() {
    const input = h("input", { id: "node-value", inputmode: "decimal", autocomplete: "off", oninput: () => accept(input) });
    const button = h("button", { class: "primary" }, "Save");
    const once = new Once();
    const save = async () => {
      try {
        const value = parseNumber(input.value);
        await this.save(value, once);
        input.value = "";
        say(`${number(value)} at ${this.id} is saved.`);
        this.context.changed();
      } catch (error) {
        refuse(input, error);
      }
    };
    return h("form", { class: "inline", onsubmit: (e) => { e.preventDefault(); busy(button, save); } },
      field("Value measured here", input), button);
  }

  // save gives the value to the trial that waits for it, or else as it is.
  async save(value, once) {
    const { name } = this.context;
    const { trials } = await get(`${studyPath(name, "trials")}?state=pending&limit=${this.context.meta.limits.page}`);
    const trial = trials.find((t) => t.node === this.id);
    if (trial) {
      await put(studyPath(name, "trials", trial.trial, "result"), { value, by: person() });
      return;
    }
    const body = { observations: [{ node: this.id, value }], by: person() };
    await post(studyPath(name, "observations"), body, { headers: once.headers(body) });
    once.answered();
  }

  close() {
    this.id = null;
  }
}
