// NodePanel shows the prediction of a node, and takes a measurement of it.

import { Once, get, post, put, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { number, resultText } from "./format.js";
import { busy, complain, refuse, say } from "./notice.js";
import { person } from "./person.js";
import { ResultInput } from "./result.js";
import { may } from "./role.js";

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
    show(this.element, h("h2", null, "Node"), h("p", { class: "soft" }, "Select a node on the map, or find it by its id, to see its prediction. Drag to move, scroll or pinch to zoom."));
  }

  // show shows a node, or none if id is null.
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
        may(this.context.meta, "measure") ? this.form() : null);
    }
    await this.refresh();
  }

  // refresh loads the prediction again.
  async refresh() {
    const { id } = this;
    if (id === null) return;
    try {
      const answer = await get(`${studyPath(this.context.name, "predictions")}?node=${encodeURIComponent(id)}`);
      if (this.id === id) this.tell(answer.nodes[0]);
    } catch (error) {
      if (this.id !== id || error.kind === "loading") return;
      if (error.kind === "no-model") show(this.facts, h("dt", null, "Prediction"), h("dd", null, "none yet: at least five measurements, not all equal, are needed"));
      else complain(error);
    }
  }

  tell(node) {
    const facts = [
      ["Predicted mean", number(node.mean)],
      ["95 % credible interval", `${number(node.lower)} to ${number(node.upper)}`],
      ["Standard deviation", number(node.sd)],
      ["Measured", node.measured ? `${number(node.value)}${node.n > 1 ? `, mean of ${node.n}` : ""}` : "no"],
    ];
    if (node.pending) facts.push(["Pending", "yes: somebody is measuring it"]);
    if (node.abandoned) facts.push(["Abandoned", "yes: never suggested again"]);
    show(this.facts, facts.map(([name, text]) => [h("dt", null, name), h("dd", null, text)]));
  }

  form() {
    const { settings } = this.context.study;
    const input = new ResultInput("node-value", "Measurement at this node", settings);
    const button = h("button", { class: "primary" }, "Save");
    const once = new Once();
    const save = async () => {
      try {
        const result = input.read();
        await this.save(result, once);
        input.clear();
        say(`${resultText(result, settings)} at ${this.id} is saved.`);
        this.context.changed();
      } catch (error) {
        refuse(input.at, error);
      }
    };
    return h("form", { class: "inline", onsubmit: (e) => { e.preventDefault(); busy(button, save); } },
      input.fields, button);
  }

  // save tells the measurement to the pending trial of the node, or adds it without one.
  async save(result, once) {
    const { name } = this.context;
    const { trials } = await get(`${studyPath(name, "trials")}?state=pending&limit=${this.context.meta.limits.page}`);
    const trial = trials.find((t) => t.node === this.id);
    if (trial) {
      await put(studyPath(name, "trials", trial.trial, "result"), { ...result, by: person() });
      return;
    }
    const body = { observations: [{ node: this.id, ...result }], by: person() };
    await post(studyPath(name, "observations"), body, { headers: once.headers(body) });
    once.answered();
  }

  close() {
    this.id = null;
  }
}
