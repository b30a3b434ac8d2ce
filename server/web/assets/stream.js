// @ts-check
// Events of a study as they happen. EventSource sends no token, so the stream is
// read by hand.

import { call, sleep, studyPath } from "./api.js";

// follow calls onEvents with lists of events, in order and each once, until the signal
// is aborted, onEngine with changes of the engine's status, and onLink when the stream
// connects or breaks. A hidden tab has no stream, because browsers open few connections
// per server.
export async function follow(name, after, { signal, onEvents, onEngine, onLink }) {
  const take = (messages) => {
    const events = [];
    for (const { id, event, data } of messages) {
      if (event === "engine") onEngine(JSON.parse(data));
      if (id !== "" && Number(id) > after) {
        events.push(JSON.parse(data));
        after = Number(id);
      }
    }
    if (events.length > 0) onEvents(events);
  };
  for (let wait = 1; !signal.aborted; wait = Math.min(2 * wait, 30)) {
    await seen(signal);
    const hidden = new AbortController();
    const look = () => document.hidden && hidden.abort();
    document.addEventListener("visibilitychange", look);
    try {
      const either = AbortSignal.any([signal, hidden.signal]);
      const response = await call("GET", `${studyPath(name, "events")}?after=${after}`, { signal: either, headers: { Accept: "text/event-stream" } });
      onLink(true);
      wait = 1;
      for await (const messages of messagesOf(response.body)) take(messages);
    } catch (error) {
      if (error.status === 404) return;
      if (hidden.signal.aborted) continue;
    } finally {
      document.removeEventListener("visibilitychange", look);
    }
    if (signal.aborted) return;
    onLink(false);
    await sleep(wait * 1000, signal).catch(() => {});
  }
}

// seen waits until the page is visible.
function seen(signal) {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look);
    look();
  });
}

// messagesOf yields server-sent messages, those that arrived together in one list.
async function* messagesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop();
    const messages = blocks.map(messageOf).filter((m) => m.data !== "");
    if (messages.length > 0) yield messages;
  }
}

function messageOf(block) {
  const message = { id: "", event: "message", data: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    message[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
  }
  return message;
}
