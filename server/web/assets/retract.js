// @ts-check
// Withdrawing a measurement, with a reason and a way back.

import { h } from "./dom.js";
import { resultText, withUnit } from "./format.js";
import { say } from "./notice.js";
import { person } from "./person.js";
import { outbox, undo } from "./sending.js";

// retractButton withdraws an observation of a study.
export function retractButton({ name, study: { settings } }, o) {
  const text = withUnit(resultText(o, settings), settings);
  const retract = () => {
    const note = window.prompt(`Retract ${text} at ${o.node}? It stays in the log. Why?`, "");
    if (note === null) return;
    const entry = outbox.add({ study: name, what: "retract", observation: o.observation, node: o.node, body: { note: note.trim(), by: person() } });
    say(`${text} at ${o.node} is retracted.`, () => undo(outbox.list().find((e) => e.id === entry.id) ?? entry, person()));
  };
  return h("button", { type: "button", id: `retract-${o.observation}`, "aria-label": `Retract ${text} at ${o.node}`, onclick: retract }, "Retract");
}
