// The log: everything that happened, live.

import { get, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { moment, number, plural } from "./format.js";
import { complain } from "./notice.js";

const most = 300; // rows that are kept

// sentences say what an event is about.
const sentences = {
  created: ({ settings }) => `created the study: ${settings.goal}`,
  asked: ({ trials, count, short }) => `reserved ${trials.map((t) => t.node).join(", ")}${short ? ` (${trials.length} of ${count}: ${short.replaceAll("_", " ")})` : ""}`,
  told: ({ trial, value, note }) => (value === undefined ? `trial ${trial} failed` : `trial ${trial} is ${number(value, 6)}`) + noted(note),
  observed: ({ values }) => (values.length <= 3 ? values.map((v) => `${v.node} is ${number(v.value, 6)}`).join(", ") : `gave ${plural(values.length, "value")}`),
  renewed: ({ trial, until }) => `extended trial ${trial} to ${moment(until)}`,
  released: ({ trial }) => `gave trial ${trial} back`,
  abandoned: ({ trial, note }) => `abandoned trial ${trial}${noted(note)}`,
  expired: ({ trials }) => `${trials.length === 1 ? "the lease of trial" : "the leases of trials"} ${trials.join(", ")} ran out`,
  retracted: ({ value, note }) => `withdrew value ${value}${noted(note)}`,
  paused: ({ note }) => `paused the study${noted(note)}`,
  resumed: () => "resumed the study",
  closed: ({ note }) => `closed the study${noted(note)}`,
};

function noted(note) {
  return note ? `: ${note}` : "";
}

// sentence is an event in words.
export function sentence({ kind, data }) {
  return sentences[kind]?.(data) ?? kind;
}

export function logView(context) {
  const status = h("p", { class: "soft", role: "status" }, "Loading …");
  const list = h("ol", { class: "log", role: "log", "aria-label": "Events, the newest first", tabindex: "0" });
  const element = h("section", { class: "card" }, h("h2", null, "What happened"), status, list);
  let last = 0;
  let waiting = [];
  let frame = 0;

  // Events wait for the next frame: a thousand at once are drawn once.
  const draw = () => {
    frame = 0;
    const fresh = waiting.filter((e) => e.seq > last).sort((a, b) => a.seq - b.seq).slice(-most);
    waiting = [];
    if (fresh.length > 0) last = fresh[fresh.length - 1].seq;
    list.prepend(...fresh.reverse().map(row));
    while (list.children.length > most) list.lastElementChild.remove();
    show(status, last > most ? `The newest ${most} of ${plural(last, "event")}, live.` : `${plural(last, "event")}, live.`);
  };
  const events = (more) => {
    waiting.push(...more);
    if (waiting.length > 2 * most) waiting = waiting.slice(-most);
    frame ||= requestAnimationFrame(draw);
  };
  const load = async () => {
    const after = Math.max(0, context.study.seq - most);
    events((await get(`${studyPath(context.name, "events")}?after=${after}&limit=${most}`)).events);
  };
  load().catch(complain);
  return { element, refresh() {}, events, close: () => cancelAnimationFrame(frame) };
}

function row(event) {
  return h("li", null,
    h("span", { class: "seq" }, event.seq),
    h("time", { datetime: event.time }, moment(event.time)),
    h("span", { class: `badge ${event.kind}` }, event.kind),
    h("span", { class: "what" }, event.by && h("strong", null, event.by, " "), sentence(event)));
}
