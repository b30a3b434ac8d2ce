// @ts-check
// Cards: the nodes that are reserved, one's own first, those of others folded away.

import { get, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { draft, draftedTrials, keepDraft } from "./drafts.js";
import { plural } from "./format.js";
import { complain } from "./notice.js";
import { person } from "./person.js";
import { reach } from "./reach.js";
import { Refresher } from "./refresher.js";
import { onOutbox, outbox } from "./sending.js";
import { TrialCard } from "./trial.js";

const most = 100; // cards of others at a time

export class Cards {
  // onShow is called to show a node on the map, and onPins with the nodes of one's own and
  // their numbers.
  constructor(context, { onShow = null, onPins = (/** @type {object[]} */ _) => {} } = {}) {
    this.context = context;
    this.onShow = onShow;
    this.onPins = onPins;
    this.cards = new Map(); // by trial
    this.numbers = new Map(draft(context.name, "numbers")); // by trial
    this.pending = new Map(context.pending ?? []); // trials by number, as last heard
    this.count = h("p", { class: "soft", role: "status" });
    this.mine = h("ul", { class: "trials", "aria-label": "Nodes reserved for you" });
    this.theirs = h("ul", { class: "trials", "aria-label": "Nodes reserved by others" });
    this.summary = h("summary", null);
    this.others = h("details", { class: "others", hidden: true }, this.summary, this.theirs);
    this.element = h("section", { class: "cards" }, h("h2", null, "To measure"), this.count, this.mine, this.others);
    this.refresher = new Refresher((signal) => this.load(signal), (error) => this.fail(error));
    this.clock = setInterval(() => this.tick(), 1000);
    this.endWatch = onOutbox(() => this.heard());
    this.name = person();
    this.draw();
    this.refresh();
  }

  refresh() {
    this.refresher.refresh();
  }

  async load(signal) {
    const asOf = Date.now();
    const path = `${studyPath(this.context.name, "trials")}?state=pending`;
    const page = this.context.meta.limits.page;
    const [own, all] = await Promise.all([
      get(`${path}&holder=${encodeURIComponent(person())}&limit=${page}`, { signal }),
      get(`${path}&order=desc&limit=${Math.min(most, page)}`, { signal }),
    ]);
    this.pending = new Map([...all.trials, ...own.trials].map((t) => [t.trial, t]));
    this.total = all.total;
    this.asOf = reach.kept === null ? asOf : Date.parse(reach.kept); // a list that the browser kept is old
    this.context.pending = [...this.pending]; // for the next view, should the server be gone then
    await this.loadEnded(signal);
    this.draw();
  }

  // loadEnded asks what became of trials that are pending no more, and that somebody has typed
  // a result of.
  async loadEnded(signal) {
    for (const card of this.cards.values()) if (!this.pending.has(card.id) && (card.isNeeded() || (card.mine && !card.ended))) await card.refetch(signal);
    const known = [...draftedTrials(this.context.name), ...outbox.of(this.context.name).filter((e) => e.state !== "sent").map((e) => e.trial)];
    for (const trial of new Set(known)) {
      if (trial === undefined || this.pending.has(trial) || this.cards.has(trial)) continue;
      const ended = await get(studyPath(this.context.name, "trials", trial), { signal }).catch((error) => {
        if (error.status !== 404) throw error;
      });
      if (ended) this.add(ended);
    }
  }

  fail(error) {
    if (error.kind !== "unreachable") complain(error); // the head of the page tells of that
    this.draw();
  }

  add(trial) {
    const card = new TrialCard(this.context, trial, { tidy: () => this.tidy(), sweep: () => this.sweep(), onShow: this.onShow });
    this.cards.set(trial.trial, card);
    return card;
  }

  // draw shows the cards. Those that are there stay where they are: somebody may be typing.
  draw() {
    if (this.name !== person()) this.regroup();
    this.settle();
    for (const trial of this.pending.values()) (this.cards.get(trial.trial) ?? this.add(trial)).update({ trial, asOf: this.asOf });
    this.tidy();
    const own = this.sorted().filter((card) => card.mine);
    this.numberOff(own);
    this.put(this.mine, own);
    this.put(this.theirs, this.sorted().filter((card) => !card.mine));
    this.describe(own);
    if (this.wanted && this.focus(this.wanted)) this.wanted = null;
  }

  // settle takes trials off the list that were dealt with after it was made.
  settle() {
    const entries = outbox.of(this.context.name);
    for (const { trial, what, state, sentAt, at, answer } of entries) {
      if (state !== "sent" || !(sentAt > (this.asOf ?? 0)) || !["result", "abandon", "release"].includes(what)) continue;
      if (entries.some((e) => e.what === "reopen" && e.trial === trial && e.at > at)) continue;
      this.pending.delete(trial);
      const card = this.cards.get(trial);
      if (card) card.update({ trial: { ...card.trial, ...answer, label: card.trial.label }, asOf: sentAt });
    }
  }

  sorted() {
    return [...this.cards.values()].sort((a, b) => a.id - b.id);
  }

  // regroup makes the cards again that belong to the other list, once the user has a name.
  regroup() {
    this.name = person();
    for (const card of this.cards.values()) if (card.isEmpty() && !card.element.contains(document.activeElement)) this.remove(card);
  }

  remove(card) {
    card.element.remove();
    this.cards.delete(card.id);
  }

  // tidy makes cards that nobody needs a line each, and removes those out of sight. Nothing
  // moves under a finger, and the focus stays where it is.
  tidy() {
    for (const card of this.cards.values()) {
      const gone = !this.pending.has(card.id) && !card.isNeeded();
      if (gone && !card.mine && !this.others.open) this.remove(card);
      else card.rest(gone);
    }
  }

  // sweep removes these lines, when the user has done something.
  sweep() {
    for (const card of this.cards.values()) if (card.resting) this.remove(card);
  }

  // put inserts cards that are new, in order.
  put(list, cards) {
    let before = null;
    for (const { element } of cards) {
      if (element.parentElement !== list) {
        if (before) before.after(element);
        else list.prepend(element);
      }
      before = element;
    }
  }

  // numberOff numbers one's own cards. They keep their numbers: one that moved to another node
  // would send people to the wrong place.
  numberOff(own) {
    if (this.asOf === undefined && this.pending.size === 0) return; // the list is not known yet
    for (const trial of this.numbers.keys()) if (!this.cards.has(trial)) this.numbers.delete(trial);
    let next = Math.max(0, ...this.numbers.values()) + 1;
    for (const card of own) {
      if (!this.numbers.has(card.id)) this.numbers.set(card.id, next++);
      card.update({ number: this.numbers.get(card.id) });
    }
    keepDraft(this.context.name, "numbers", this.numbers.size === 0 ? null : [...this.numbers]);
    this.onPins(own.filter((card) => this.pending.has(card.id)).map(({ id, trial: { node, x, y, lat, lon } }) => ({ node, x: x ?? lon, y: y ?? lat, number: this.numbers.get(id) })));
  }

  describe(own) {
    const open = own.filter((card) => !card.element.classList.contains("settled")).length;
    const theirs = this.cards.size - own.length;
    const shown = this.total > this.pending.size ? `, ${plural(this.total, "node")} in all` : "";
    const words = own.length === 0 ? "No node is reserved for you." : open === 0 ? "All yours are done." : `${plural(open, "node")} reserved for you.`;
    if (this.count.textContent !== words) show(this.count, words);
    this.others.hidden = theirs === 0;
    show(this.summary, `Reserved by others: ${theirs}${shown}`);
  }

  // heard is called when the outbox has changed: a card may be settled, refused or free again.
  heard() {
    const state = JSON.stringify(outbox.of(this.context.name).map((e) => [e.id, e.state]));
    if (state === this.state) return;
    this.state = state;
    this.tick();
    this.context.changed();
  }

  tick() {
    if (this.name !== person()) return this.draw();
    this.settle();
    for (const card of this.cards.values()) card.update();
    this.tidy();
    this.describe(this.sorted().filter((card) => card.mine));
  }

  // focus puts the focus into the card of a node, and reports whether there is one.
  focus(node) {
    const card = this.sorted().find((c) => c.trial.node === node);
    if (!card) return false;
    if (!card.mine) this.others.open = true;
    (card.input?.value ?? card.element).focus();
    card.element.scrollIntoView({ block: "nearest" });
    return true;
  }

  // expect puts the focus into the card of a node once it is there.
  expect(node) {
    this.sweep();
    if (!this.focus(node)) this.wanted = node;
  }

  close() {
    clearInterval(this.clock);
    this.endWatch();
    this.refresher.close();
  }
}
