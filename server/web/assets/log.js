// @ts-check
// The log: all events, live, with a filter.

import { get, studyPath } from "./api.js";
import { field, h, show } from "./dom.js";
import { moment, plural, resultText } from "./format.js";
import { busy, complain } from "./notice.js";

const most = 300; // rows that are added at a time

// sentences describe events; of returns the node of a trial, and read the record of a number.
const sentences = {
  created: ({ settings }) => `created the study: ${settings.goal}`,
  asked: ({ trials, count, short }) => `reserved ${trials.map((t) => t.node).join(", ")}${short ? ` (${trials.length} of ${count}: ${short.replaceAll("_", " ")})` : ""}`,
  told: ({ trial, note, ...result }, { of }) => (result.value === undefined && result.class === undefined ? `${of(trial)} could not be measured` : `${of(trial)} is ${resultText(result)}`) + noted(note),
  observed: ({ values, note }) => (values.length <= 3 ? values.map((v) => `${v.node} is ${resultText(v)}`).join(", ") : `added ${plural(values.length, "measurement")}`) + noted(note),
  renewed: ({ trial, until }, { of }) => `keeps ${of(trial)} until ${moment(until)}`,
  released: ({ trial }, { of }) => `gave ${of(trial)} back`,
  abandoned: ({ trial, note }, { of }) => `marked ${of(trial)} as never to be measured${noted(note)}`,
  expired: ({ trials }, { of }) => `${trials.length === 1 ? "the reservation of" : "the reservations of"} ${trials.map(of).join(", ")} ended`,
  reopened: ({ trial, note }, { of }) => `took back the end of ${of(trial)}${noted(note)}`,
  reinstated: ({ value }, { read }) => `took back the retraction of ${read(value)}`,
  retracted: ({ value, note }, { read }) => `retracted ${read(value)}${noted(note)}`,
  paused: ({ note }) => `paused the study${noted(note)}`,
  resumed: () => "resumed the study",
  closed: ({ note }) => `closed the study${noted(note)}`,
  changed: ({ note }) => `changed the settings${noted(note)}`,
  queued: ({ nodes, note }) => `queued ${nodes.map((n) => n.node).join(", ")}${noted(note)}`,
  unqueued: ({ nodes }) => `took ${nodes.join(", ")} out of the queue`,
  archived: ({ note }) => `archived the study${noted(note)}`,
  restored: () => "restored the study",
};

// names are those of kinds of events, where the words of the program differ from those of the page.
const names = { asked: "reserved", told: "result", observed: "measured", renewed: "kept", released: "given back", abandoned: "never", expired: "ended", unqueued: "queue", queued: "queue" };

function nameOf(kind) {
  return names[kind] ?? kind;
}

function noted(note) {
  return note ? `: ${note}` : "";
}

export function logView(context) {
  return new LogView(context);
}

class LogView {
  constructor(context) {
    this.context = context;
    this.all = []; // events that were loaded, the oldest first
    this.nodes = new Map(); // by trial, as far as they were seen
    this.records = new Map(); // measurements by number, as far as they were asked for
    this.waiting = [];
    this.frame = 0;
    this.shown = most;
    this.status = h("p", { class: "soft", role: "status" }, "Loading …");
    this.list = h("ol", { class: "log" });
    this.filter = h("input", { id: "log-filter", type: "search", autocomplete: "off", placeholder: "node, person or word", oninput: () => this.redraw() });
    this.older = h("button", { type: "button", id: "log-older", hidden: true, onclick: () => busy(this.older, () => this.loadOlder().catch(complain)) }, "Older events");
    this.element = h("section", { class: "card" },
      h("h2", null, "Events"),
      h("div", { class: "fields" }, field("Filter", this.filter)),
      this.status,
      h("div", { class: "log-frame", role: "log", "aria-label": "Events, the newest first", tabindex: "0" }, this.list),
      h("p", { class: "actions" }, this.older));
    this.load(Math.max(0, context.study.seq - this.page())).catch(complain);
  }

  page() {
    return Math.min(most, this.context.meta.limits.page);
  }

  // load adds a page of events after a number.
  async load(after, rows = this.page()) {
    this.events((await get(`${studyPath(this.context.name, "events")}?after=${after}&limit=${rows}`)).events);
  }

  async loadOlder() {
    this.shown += most;
    const first = this.all[0]?.seq ?? 1;
    if (first > 1) await this.load(Math.max(0, first - 1 - this.page()), Math.min(this.page(), first - 1));
    else this.redraw();
  }

  // events takes more of them, which are drawn once per frame however many arrive.
  events(more) {
    this.waiting.push(...more);
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.redraw();
    });
  }

  // take sorts new events in: after those that are known, or before them.
  take() {
    const first = this.all[0]?.seq ?? 0, last = this.all[this.all.length - 1]?.seq ?? 0;
    const order = (a, b) => a.seq - b.seq;
    const fresh = [...new Map(this.waiting.map((e) => [e.seq, e])).values()].filter((e) => e.seq > last || e.seq < first);
    this.waiting = [];
    if (fresh.some((e) => e.seq < first)) this.all = [...fresh.filter((e) => e.seq < first).sort(order), ...this.all];
    this.all.push(...fresh.filter((e) => e.seq > last).sort(order));
    for (const { kind, data } of fresh) if (kind === "asked") for (const t of data.trials) this.nodes.set(t.trial, t.node);
  }

  redraw() {
    this.take();
    const wanted = this.filter.value.trim().toLowerCase();
    const matches = (event) => `${nameOf(event.kind)} ${event.by ?? ""} ${this.words(event)}`.toLowerCase().includes(wanted);
    const found = wanted === "" ? this.all : this.all.filter(matches);
    show(this.list, found.slice(-this.shown).reverse().map((event) => row(event, this.words(event))));
    const last = this.all[this.all.length - 1]?.seq ?? 0, first = this.all[0]?.seq ?? 1;
    this.older.hidden = first <= 1 && found.length <= this.shown;
    const loaded = first > 1 ? `the newest ${this.all.length} of ${plural(last, "event")}` : plural(last, "event");
    show(this.status, wanted === "" ? `${loaded[0].toUpperCase()}${loaded.slice(1)}, live.` : `${found.length} of ${loaded} match.`);
  }

  words({ kind, data }) {
    const of = (trial) => this.nodes.get(trial) ?? `trial ${trial}`;
    return sentences[kind]?.(data, { of, read: (k) => this.record(k) }) ?? kind;
  }

  // record names a measurement by its number, once it is known.
  record(k) {
    if (!this.records.has(k)) {
      this.records.set(k, `measurement ${k}`);
      get(`${studyPath(this.context.name, "observations")}?after=${k - 1}&limit=1`).then(({ observations: [o] }) => {
        if (o?.observation !== k) return;
        this.records.set(k, `${resultText(o, this.context.study.settings)} at ${o.node}`);
        this.redraw();
      }).catch(() => {});
    }
    return this.records.get(k);
  }

  refresh() {}

  close() {
    cancelAnimationFrame(this.frame);
  }
}

function row(event, text) {
  return h("li", null,
    h("span", { class: "seq" }, event.seq),
    h("time", { datetime: event.time }, moment(event.time)),
    h("span", { class: "badge" }, nameOf(event.kind)),
    h("span", { class: "what" }, event.by && h("strong", null, event.by, " "), text));
}
