// @ts-check
// The nodes that are suggested next: a list to take from, one by one or some at once.

import { Once, get, patiently, post, remove, studyPath } from "./api.js";
import { field, h, show } from "./dom.js";
import { lasting, number } from "./format.js";
import { accept, busy, complain, refuse, say } from "./notice.js";
import { person, personField } from "./person.js";
import { waitWords } from "./problems.js";
import { Refresher } from "./refresher.js";
import { may } from "./role.js";

const listed = 5; // suggestions shown
const many = 20; // nodes that nobody takes by mistake

const shorts = {
  budget_reached: "The remaining nodes cost more than what is left of the budget.",
  no_allowed_nodes: "No candidate node is left.",
  groups_full: "The remaining nodes that the budget allows are in groups with their maximum of pending nodes.",
  paused: "The study is paused. There are no suggestions until it is resumed.",
  closed: "The study is closed. There are no more suggestions.",
};

export class Suggestions {
  // onShow is told which node to show on the map, onList which nodes are suggested, and onTaken
  // which node was taken first.
  constructor(context, { onShow, onList, onTaken }) {
    this.context = context;
    this.onShow = onShow;
    this.onList = onList;
    this.onTaken = onTaken;
    this.once = new Once();
    this.candidates = [];
    this.list = h("ul", { class: "suggestions", "aria-label": "Suggested nodes", onkeydown: (e) => this.step(e) });
    this.status = h("p", { class: "soft", role: "status" });
    this.queue = h("div", null);
    this.element = h("section", { class: "suggested" },
      h("h2", null, "Suggested next"), this.status, this.list,
      may(context.meta, "measure") ? this.form() : null);
    this.refresher = new Refresher((signal) => this.load(signal), (error) => this.fail(error), 2000);
    this.refresh();
  }

  form() {
    this.wanted = h("input", { id: "ask-count", form: "take", type: "number", min: 1, max: this.context.meta.limits.ask_count, value: 5, required: true, oninput: () => { accept(this.wanted); this.name(); } });
    this.chosen = h("input", { id: "ask-node", autocomplete: "off", oninput: () => accept(this.chosen) });
    this.leased = h("input", { id: "ask-lease", placeholder: lasting(this.context.study.settings.lease), autocomplete: "off" });
    this.more = h("button", { class: "primary", id: "take-more" });
    this.name();
    const own = h("button", { type: "button", id: "ask-own", onclick: () => busy(own, () => this.takeOwn()) }, "Take this node");
    const later = h("button", { type: "button", id: "queue-own", onclick: () => busy(later, () => this.enqueue()) }, "Put in the queue");
    return [
      h("form", { class: "take", id: "take", onsubmit: (e) => { e.preventDefault(); busy(this.more, () => this.takeMore()); } }, this.more),
      h("details", { class: "other-ways" },
        h("summary", null, "Other ways to take nodes"),
        h("div", { class: "fields" },
          field("How many at once", this.wanted),
          field("A node of your own choice", this.chosen, "Take it now, or put it in the queue for whoever takes the next one."),
          field("Time to measure", this.leased, "Such as 90m or 24h; leave it empty for the usual time."),
          personField("ask-name")),
        h("p", { class: "actions" }, own, later),
        this.queue),
    ];
  }

  name() {
    const n = Number(this.wanted.value);
    show(this.more, n > 0 ? `Take ${n} more` : "Take more");
  }

  refresh() {
    this.refresher.refresh();
  }

  async load(signal) {
    const { study, name } = this.context;
    if (study.queued > 0 || this.queue.children.length > 0) this.drawQueue((await get(studyPath(name, "queue"), { signal })).queue);
    if (study.status !== "open") {
      this.draw([], shorts[study.status] ?? "");
      return;
    }
    if (this.list.children.length === 0) show(this.status, "Working out where to measure next …");
    const wait = (problem) => show(this.status, waitWords(problem));
    const { candidates, short, random } = await (await patiently("GET", `${studyPath(name, "candidates")}?count=${listed}`, { signal }, wait)).json();
    this.draw(candidates, shorts[short] ?? (random ? "The model could not be learned, so these are picked at random." : ""));
  }

  draw(candidates, words) {
    show(this.status, words);
    this.candidates = candidates;
    show(this.list, candidates.map((c) => this.item(c)));
    this.onList(candidates);
  }

  // drop removes nodes that are no longer to be had, before the next suggestions come.
  drop(nodes) {
    for (const item of this.list.querySelectorAll("li")) if (nodes.includes(item.dataset.node)) item.remove();
    this.candidates = this.candidates.filter((c) => !nodes.includes(c.node));
    this.onList(this.candidates);
  }

  item(c) {
    const name = c.label || c.node;
    const take = may(this.context.meta, "measure") && h("button", { type: "button", class: "link", id: `take-${c.number}`, "aria-label": `Take ${name}`, onclick: () => busy(take, () => this.take([c.node], name)) }, "take it");
    return h("li", { class: "suggestion", "data-node": c.node },
      h("div", { class: "between" },
        h("button", { type: "button", class: "link id", id: `show-${c.number}`, "aria-label": `${name}: show it on the map`, onclick: () => this.onShow(c) }, h("span", { "aria-hidden": "true" }, "? "), name),
        take),
      h("p", { class: "why" }, c.why, c.cost !== 1 && ` It costs ${number(c.cost)}.`));
  }

  // step moves between suggestions with the arrow keys.
  step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const items = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll("button[id^='show-']")]);
    const at = items.findIndex((b) => b.closest("li").contains(document.activeElement));
    if (!by || at < 0) return;
    event.preventDefault();
    items[Math.min(items.length - 1, Math.max(0, at + by))].focus();
  }

  async takeMore() {
    const count = Number(this.wanted.value);
    if (count > many && !window.confirm(`Reserve ${count} nodes? Nobody else can take them meanwhile.`)) return;
    await this.ask({ count }, this.wanted);
  }

  async takeOwn() {
    const node = this.chosen.value.trim();
    if (node === "") return refuse(this.chosen, { title: "Which node?" });
    if (await this.ask({ nodes: [node] }, this.chosen)) this.chosen.value = "";
  }

  take(nodes, name) {
    return this.ask({ nodes }, null, `${name} is yours.`);
  }

  // ask reserves nodes. What is refused is said at the control, or in a notice.
  async ask(what, control, done) {
    const body = { ...what, holder: person() };
    const lease = this.leased.value.trim();
    if (lease !== "") body.lease = lease;
    try {
      const wait = (problem) => show(this.status, waitWords(problem));
      const response = await patiently("POST", studyPath(this.context.name, "asks"), { body, headers: this.once.headers(body) }, wait);
      this.once.answered();
      const { trials, short } = await response.json();
      show(this.status, shorts[short] ?? "");
      if (trials.length > 0) say(done ?? (trials.length === 1 ? `${trials[0].node} is yours.` : `${trials.length} nodes are yours.`));
      this.drop(trials.map((t) => t.node));
      if (trials.length > 0) this.onTaken(trials[0].node);
      this.context.changed();
      return true;
    } catch (error) {
      const at = lease !== "" && /duration|lease/.test(error.detail ?? "") ? this.leased : control;
      if (at) {
        at.closest("details")?.setAttribute("open", "");
        refuse(at, error);
      } else {
        complain(error);
      }
      return false;
    }
  }

  async enqueue() {
    const node = this.chosen.value.trim();
    if (node === "") return refuse(this.chosen, { title: "Which node?" });
    try {
      this.drawQueue((await post(studyPath(this.context.name, "queue"), { nodes: [node], by: person() })).queue);
      this.chosen.value = "";
      say(`${node} is in the queue: whoever takes the next node gets it.`);
      this.context.changed();
    } catch (error) {
      refuse(this.chosen, error);
    }
  }

  drawQueue(queue) {
    const out = async (node) => {
      try {
        this.drawQueue((await remove(`${studyPath(this.context.name, "queue")}?${new URLSearchParams({ node, by: person() })}`)).queue);
        this.context.changed();
      } catch (error) {
        complain(error);
      }
    };
    show(this.queue, queue.length > 0 && [h("h3", null, "Queue"), h("ul", { class: "queue", id: "queue" }, queue.map((q) => h("li", { class: "between" },
      h("span", { class: "id" }, q.node, q.by && h("span", { class: "soft" }, ` by ${q.by}`)),
      h("button", { type: "button", class: "link", "aria-label": `Take ${q.node} out of the queue`, onclick: () => out(q.node) }, "remove"))))]);
  }

  fail(error) {
    show(this.status, error.kind === "unreachable" ? "Suggestions appear when the server can be reached again." : error.detail || error.title || "");
  }

  close() {
    this.refresher.close();
  }
}
