// @ts-check
// The outbox of this page: how its entries are sent, when, and what the head of the page tells
// of them.

import { call, newKey, sleep, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { plural } from "./format.js";
import { Ledger } from "./ledger.js";
import { Outbox, tabLock } from "./outbox.js";
import { onReach, reach } from "./reach.js";
import { address } from "./route.js";
import { times } from "./times.js";

const place = `grfgp-outbox:${new URL("./", document.baseURI).pathname}`;
const pauses = [2000, 5000, 10_000, 30_000]; // milliseconds between tries

const listeners = new Set();

// Locks are only where browsers trust the connection.
const lock = navigator.locks
  ? (work) => navigator.locks.request(place, work)
  : tabLock(localStorage, `${place}-lock`, { name: newKey(), sleep });

const store = {
  names: () => Object.keys(localStorage),
  getItem: (name) => localStorage.getItem(name),
  setItem: (name, text) => localStorage.setItem(name, text),
  removeItem: (name) => localStorage.removeItem(name),
};

export const outbox = new Outbox({ store, place, ledger: new Ledger(place), send, lock, newKey, changed: tell });

// onOutbox calls a function when the outbox changes, in this tab or in another; it returns one
// that ends this.
export function onOutbox(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell() {
  for (const listener of listeners) listener();
}

// requests are what the server is asked for, by what an entry does.
const requests = {
  result: (e) => ["PUT", studyPath(e.study, "trials", e.trial, "result"), e.body],
  reading: ({ body: { note, by, ...row }, ...e }) => ["POST", studyPath(e.study, "observations"), { observations: [{ node: e.node, ...row }], note, by }],
  abandon: (e) => ["POST", studyPath(e.study, "trials", e.trial, "abandon"), e.body],
  release: (e) => ["POST", studyPath(e.study, "trials", e.trial, "release"), e.body],
  reopen: (e) => ["POST", studyPath(e.study, "trials", e.trial, "reopen"), e.body],
  retract: (e) => ["DELETE", `${studyPath(e.study, "observations", e.observation)}?${new URLSearchParams(e.body)}`],
  reinstate: (e) => ["POST", studyPath(e.study, "observations", e.observation, "reinstate"), e.body],
};

async function send(entry) {
  const [method, path, body] = requests[entry.what](entry);
  const response = await call(method, path, { body, headers: { "Idempotency-Key": entry.id }, signal: AbortSignal.timeout(30_000) }).catch((error) => {
    if (error.name === "AbortError" || error.name === "TimeoutError") throw { kind: "unreachable" };
    throw error;
  });
  return response.json();
}

// canUndo reports whether what an entry did can be taken back now.
export function canUndo(entry) {
  return entry.state === "waiting" || (entry.state === "sent" && Date.now() - entry.sentAt < times.undo && undoings[entry.what] !== undefined);
}

// undoings are the entries that take back what was sent.
const undoings = {
  result: (e) => ({ what: "reopen", trial: e.trial }),
  abandon: (e) => ({ what: "reopen", trial: e.trial }),
  release: (e) => ({ what: "reopen", trial: e.trial }),
  reading: (e) => ({ what: "retract", observation: e.answer.observations[0].observation }),
  retract: (e) => ({ what: "reinstate", observation: e.observation }),
};

// undo takes an entry back: before it is sent, or by another one.
export async function undo(entry, by) {
  if (entry.state === "waiting" && (await outbox.takeBack(entry.id))) return;
  const sent = outbox.list().find((e) => e.id === entry.id && e.state === "sent");
  if (!sent) return;
  outbox.drop(sent.id);
  outbox.add({ study: sent.study, node: sent.node, body: { by }, ...undoings[sent.what](sent) });
}

// startSending sends what waits: at once, when the server is back, and again and again.
export function startSending() {
  let tries = 0;
  const again = async () => {
    if (outbox.waiting().length > 0) await outbox.flush();
    tries = outbox.waiting().length === 0 ? 0 : tries + 1;
    setTimeout(again, pauses[Math.min(tries, pauses.length - 1)]);
  };
  again();
  onReach(({ up }) => up && outbox.waiting().length > 0 && outbox.flush());
  addEventListener("online", () => outbox.flush());
  addEventListener("storage", (event) => event.key?.startsWith(`${place}:`) && tell());
}

// sendingBadge tells in the head of the page what is not yet on the server.
export function sendingBadge() {
  const badge = h("button", { type: "button", id: "to-send", class: "badge", hidden: true, "aria-haspopup": "dialog", onclick: () => listDialog() });
  const live = h("span", { class: "unseen", role: "status" });
  const draw = () => {
    const waits = outbox.waiting().length;
    const refused = outbox.list().filter((e) => e.state === "refused").length;
    const words = [!reach.up && "offline", waits > 0 && `${waits} to send`, refused > 0 && `${refused} not accepted`].filter(Boolean).join(" · ");
    badge.hidden = words === "";
    badge.classList.toggle("waits", waits > 0 || refused > 0);
    if (badge.textContent !== words) {
      show(badge, words);
      show(live, words);
    }
  };
  onOutbox(draw);
  onReach(draw);
  draw();
  return [badge, live];
}

const deeds = { result: "result", reading: "second reading", abandon: "never measure", release: "give back", reopen: "undo", retract: "retract", reinstate: "undo" };

// listDialog shows what is in the outbox.
function listDialog() {
  const dialog = h("dialog", { class: "card", "aria-labelledby": "to-send-title", onclose: () => { end(); dialog.remove(); } });
  const draw = () => {
    const entries = outbox.list().filter((e) => e.state !== "sent");
    show(dialog,
      h("h2", { id: "to-send-title" }, entries.length === 0 ? "Everything is sent" : `${plural(entries.length, "entry", "entries")} not on the server yet`),
      h("p", { class: "soft" }, reach.up ? "They are sent as soon as the server takes them." : `The server cannot be reached${reach.kept ? `; what you see is of ${new Date(reach.kept).toLocaleString()}` : ""}. They are kept in this browser and sent when it is back.`),
      h("ul", { class: "plain" }, entries.map((e) => h("li", null,
        h("strong", null, e.node ?? ""), ` ${e.what === "reading" && e.trial === undefined ? "measurement" : deeds[e.what]}${e.texts?.value ? ` ${e.texts.value}` : ""} · `, h("a", { href: address("studies", e.study, "next"), onclick: () => dialog.close() }, e.study),
        e.problem && h("p", { class: "refusal" }, [e.problem.title, e.problem.detail].filter(Boolean).join(". "))))),
      h("p", { class: "actions" },
        h("button", { type: "button", class: "primary", id: "send-now", onclick: () => outbox.flush() }, "Send now"),
        h("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  };
  const end = onOutbox(draw);
  draw();
  document.body.append(dialog);
  dialog.showModal();
}
