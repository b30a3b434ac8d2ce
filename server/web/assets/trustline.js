// @ts-check
// One line of trust: how good the predictions are, in short, with a link to the figures.

import { patiently, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { Refresher } from "./refresher.js";
import { address } from "./route.js";
import { inShort } from "./verdicts.js";

const large = 20_000; // nodes of a network on which nobody waits for a check unasked

export class TrustLine {
  constructor(context) {
    this.context = context;
    this.element = h("section", { class: "trust-line", id: "trust-line", "aria-live": "polite" });
    this.refresher = new Refresher((signal) => this.load(signal), () => this.say("Not yet.", "The check did not work this time."), 5000);
    this.refresh();
  }

  refresh() {
    const { study } = this.context;
    if (study.values < (study.settings.labels ? 2 : 5)) this.say("Not yet.", this.lacks());
    else if ((study.graph.nodes ?? large) >= large && !this.asked) this.offer();
    else this.refresher.refresh();
  }

  async load(signal) {
    if (!this.element.firstChild) this.say("", "Checking …");
    try {
      const c = await (await patiently("GET", studyPath(this.context.name, "calibration"), { signal })).json();
      const { unit } = this.context.study.settings;
      const { trust, words } = inShort(c, unit ? ` ${unit}` : "");
      this.say(trust, words);
    } catch (error) {
      if (error.kind !== "no-model") throw error;
      this.say("Not yet.", this.lacks());
    }
  }

  // lacks says what a model needs.
  lacks() {
    return this.context.study.settings.labels ? "Predictions need nodes of at least two classes." : "Predictions need at least five values that differ.";
  }

  // offer lets people start a check that takes long.
  offer() {
    show(this.element, h("h2", null, "Can I trust it?"),
      h("p", null, h("button", { type: "button", class: "link", onclick: () => { this.asked = true; show(this.element); this.refresh(); } }, "Check it now"), " (on a network of this size it takes a while)"));
  }

  say(trust, words) {
    const text = trust + words;
    if (this.text === text && this.element.firstChild) return;
    this.text = text;
    this.element.classList.toggle("care", trust === "Take care.");
    show(this.element, h("h2", null, `Can I trust it? ${trust}`), h("p", null, words, " ", h("a", { href: address("studies", this.context.name, "trust") }, "More")));
  }

  close() {
    this.refresher.close();
  }
}
