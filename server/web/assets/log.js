// The log: all events, live.

import { get, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { moment, plural, resultText } from "./format.js";
import { complain } from "./notice.js";

const most = 300; // rows that are kept

// sentences describe events; of returns the node of a trial.
const sentences = {
  created: ({ settings }) => `created the study: ${settings.goal}`,
  asked: ({ trials, count, short }) => `reserved ${trials.map((t) => t.node).join(", ")}${short ? ` (${trials.length} of ${count}: ${short.replaceAll("_", " ")})` : ""}`,
  told: ({ trial, value, exposure, note }, of) => (value === undefined ? `${of(trial)} failed` : `${of(trial)} is ${resultText({ value, exposure })}`) + noted(note),
  observed: ({ values, note }) => (values.length <= 3 ? values.map((v) => `${v.node} is ${resultText(v)}`).join(", ") : `added ${plural(values.length, "measurement")}`) + noted(note),
  renewed: ({ trial, until }, of) => `extended the lease of ${of(trial)} to ${moment(until)}`,
  released: ({ trial }, of) => `released ${of(trial)}`,
  abandoned: ({ trial, note }, of) => `abandoned ${of(trial)}${noted(note)}`,
  expired: ({ trials }, of) => `${trials.length === 1 ? "the lease of" : "the leases of"} ${trials.map(of).join(", ")} expired`,
  retracted: ({ value, note }) => `retracted observation ${value}${noted(note)}`,
  paused: ({ note }) => `paused the study${noted(note)}`,
  resumed: () => "resumed the study",
  closed: ({ note }) => `closed the study${noted(note)}`,
  changed: ({ note }) => `changed the settings${noted(note)}`,
  queued: ({ nodes, note }) => `queued ${nodes.map((n) => n.node).join(", ")}${noted(note)}`,
  unqueued: ({ nodes }) => `took ${nodes.join(", ")} out of the queue`,
  archived: ({ note }) => `archived the study${noted(note)}`,
  restored: () => "restored the study",
};

function noted(note) {
  return note ? `: ${note}` : "";
}

export function logView(context) {
  const status = h("p", { class: "soft", role: "status" }, "Loading …");
  const list = h("ol", { class: "log", role: "log", "aria-label": "Events, the newest first", tabindex: "0" });
  const element = h("section", { class: "card" }, h("h2", null, "Events"), status, list);
  const nodes = new Map(); // by trial, as far as they were seen
  const nodeOf = (trial) => nodes.get(trial) ?? `trial ${trial}`;
  let last = 0;
  let waiting = [];
  let frame = 0;

  // Events are drawn once per frame, however many arrive.
  const draw = () => {
    frame = 0;
    const fresh = waiting.filter((e) => e.seq > last).sort((a, b) => a.seq - b.seq).slice(-most);
    waiting = [];
    if (fresh.length > 0) last = fresh[fresh.length - 1].seq;
    for (const { kind, data } of fresh) if (kind === "asked") for (const t of data.trials) nodes.set(t.trial, t.node);
    list.prepend(...fresh.reverse().map((event) => row(event, nodeOf)));
    while (list.children.length > most) list.lastElementChild.remove();
    show(status, last > most ? `The newest ${most} of ${plural(last, "event")}, live.` : `${plural(last, "event")}, live.`);
  };
  const events = (more) => {
    waiting.push(...more);
    if (waiting.length > 2 * most) waiting = waiting.slice(-most);
    frame ||= requestAnimationFrame(draw);
  };
  const load = async () => {
    const rows = Math.min(most, context.meta.limits.page);
    const after = Math.max(0, context.study.seq - rows);
    events((await get(`${studyPath(context.name, "events")}?after=${after}&limit=${rows}`)).events);
  };
  load().catch(complain);
  return { element, refresh() {}, events, close: () => cancelAnimationFrame(frame) };
}

function row(event, nodeOf) {
  return h("li", null,
    h("span", { class: "seq" }, event.seq),
    h("time", { datetime: event.time }, moment(event.time)),
    h("span", { class: `badge ${event.kind}` }, event.kind),
    h("span", { class: "what" }, event.by && h("strong", null, event.by, " "), sentences[event.kind]?.(event.data, nodeOf) ?? event.kind));
}
