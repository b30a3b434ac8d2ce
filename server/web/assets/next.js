// Next measurements: reserve nodes, enter results, release nodes.

import { Once, get, patiently, remove, studyPath } from "./api.js";
import { field, h, show, table } from "./dom.js";
import { lasting, moment, plural, resultText } from "./format.js";
import { complain, busy, refuse, accept, say } from "./notice.js";
import { observeForm } from "./observe.js";
import { person, personField } from "./person.js";
import { Refresher } from "./refresher.js";
import { may } from "./role.js";
import { TrialCard } from "./trial.js";

const most = 100; // cards at a time
const latest = 20; // measurements in the table

const shorts = {
  budget_reached: "The remaining nodes cost more than what is left of the budget.",
  no_allowed_nodes: "No candidate node is left.",
  groups_full: "The remaining nodes that the budget allows are in groups with their maximum of pending nodes.",
  paused: "The study is paused; resume it to get suggestions.",
  closed: "The study is closed.",
};

export function nextView(context) {
  return new NextView(context);
}

class NextView {
  constructor(context) {
    this.context = context;
    this.cards = new Map(); // by trial
    this.once = new Once();
    this.list = h("ul", { class: "trials", "aria-label": "Reserved nodes" });
    this.count = h("p", { class: "soft", role: "status" });
    this.values = h("div", null);
    this.element = h("div", { class: "next-view" },
      may(context.meta, "measure") ? this.askForm() : null,
      may(context.meta, "measure") ? observeForm(context) : null,
      h("section", { class: "wide" }, h("h2", null, "Pending"), this.count, this.list),
      h("section", { class: "card wide" }, h("h2", null, "Latest measurements"), this.values));
    this.refresher = new Refresher((signal) => this.load(signal), complain);
    this.clock = setInterval(() => this.tick(), 5000);
    this.refresh();
  }

  askForm() {
    this.wanted = h("input", { id: "ask-count", type: "number", min: 1, max: this.context.meta.limits.ask_count, value: 1, required: true, oninput: () => accept(this.wanted) });
    this.chosen = h("input", { id: "ask-node", autocomplete: "off", oninput: () => accept(this.chosen) });
    this.leased = h("input", { id: "ask-lease", placeholder: lasting(this.context.study.settings.lease), autocomplete: "off" });
    this.asking = h("p", { role: "status", class: "soft" });
    const button = h("button", { class: "primary" }, "Reserve");
    return h("section", { class: "card" },
      h("h2", null, "What to measure next"),
      h("form", { onsubmit: (e) => { e.preventDefault(); busy(button, () => this.ask()); } },
        h("div", { class: "fields" },
          field("How many nodes", this.wanted),
          field("Or this node", this.chosen, "A node of your own choice; empty: those that are suggested."),
          field("Lease", this.leased, "As in 90m or 24h; empty: the default of the study."),
          personField("ask-name")),
        h("p", { class: "actions" }, button, this.asking)));
  }

  async ask() {
    const node = this.chosen.value.trim();
    const body = node === "" ? { count: Number(this.wanted.value), holder: person() } : { nodes: [node], holder: person() };
    if (this.leased.value.trim() !== "") body.lease = this.leased.value.trim();
    try {
      const path = studyPath(this.context.name, "asks");
      const wait = (problem) => show(this.asking, problem.detail || "The server is working …");
      const response = await patiently("POST", path, { body, headers: this.once.headers(body) }, wait);
      const answer = await response.json();
      this.once.answered();
      show(this.asking, answer.short ? shorts[answer.short] ?? answer.short : "");
      if (answer.trials.length > 0) say(`${plural(answer.trials.length, "node")} reserved.`);
      this.fresh = answer.trials[0]?.trial;
      this.chosen.value = "";
      this.context.changed();
    } catch (error) {
      show(this.asking, "");
      refuse(node === "" ? this.wanted : this.chosen, error);
    }
  }

  refresh() {
    this.refresher.refresh();
  }

  async load(signal) {
    const path = studyPath(this.context.name, "trials");
    const page = (rows) => Math.min(rows, this.context.meta.limits.page);
    const [{ trials, total }, { observations }] = await Promise.all([
      get(`${path}?state=pending&order=desc&limit=${page(most)}`, { signal }),
      get(`${studyPath(this.context.name, "observations")}?order=desc&limit=${page(latest)}`, { signal }),
    ]);
    this.showTrials(trials, total);
    this.showValues(observations);
  }

  // showTrials keeps existing cards: somebody may be typing in them.
  showTrials(trials, total) {
    const focused = document.activeElement?.closest?.(".trial");
    const gone = new Set(this.cards.keys());
    let before = null;
    for (const trial of trials) {
      gone.delete(trial.trial);
      let card = this.cards.get(trial.trial);
      if (card) {
        card.update(trial);
      } else {
        card = new TrialCard(this.context, trial);
        this.cards.set(trial.trial, card);
        if (before) before.after(card.element);
        else this.list.prepend(card.element);
      }
      card.until = trial.until;
      before = card.element;
    }
    for (const id of gone) {
      const { element } = this.cards.get(id);
      if (element === focused) this.passFocus(element);
      element.remove();
      this.cards.delete(id);
    }
    const shown = total > trials.length ? `, the newest ${trials.length} are shown` : "";
    show(this.count, total === 0 ? "No node is reserved. Reserve some above." : `${plural(total, "node")} reserved${shown}.`);
    if (this.fresh !== undefined && this.cards.has(this.fresh)) {
      this.cards.get(this.fresh).element.querySelector("input")?.focus();
      this.fresh = undefined;
    }
  }

  // passFocus moves the focus away from a card that is removed.
  passFocus(element) {
    const other = element.nextElementSibling ?? element.previousElementSibling;
    (other?.querySelector("input") ?? document.getElementById("ask-count"))?.focus();
  }

  showValues(observations) {
    show(this.values, table("Latest measurements", [
      { name: "node", text: (o) => o.node, class: "t" },
      { name: "value", text: (o) => resultText(o, this.context.study.settings) },
      { name: "", text: (o) => (o.retracted ? "retracted" : this.retractButton(o)), class: "c" },
      { name: "when", text: (o) => moment(o.time), class: "c" },
      { name: "by", text: (o) => o.by ?? "", class: "t" },
    ], observations, "No measurements yet."));
  }

  retractButton(o) {
    if (!may(this.context.meta, "measure")) return "";
    const retract = async () => {
      if (!window.confirm(`Retract the measurement ${resultText(o, this.context.study.settings)} at ${o.node}? It stays in the log.`)) return;
      try {
        await remove(`${studyPath(this.context.name, "observations", o.observation)}?by=${encodeURIComponent(person())}`);
        say(`The measurement at ${o.node} is retracted.`);
        this.context.changed();
      } catch (error) {
        complain(error);
      }
    };
    const button = h("button", { type: "button", id: `retract-${o.observation}`, "aria-label": `Retract the measurement at ${o.node}`, onclick: () => busy(button, retract) }, "Retract");
    return button;
  }

  tick() {
    for (const card of this.cards.values()) card.update(card);
  }

  close() {
    clearInterval(this.clock);
    this.refresher.close();
  }
}
