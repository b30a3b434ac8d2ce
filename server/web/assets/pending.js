// What a view says while there is nothing to show.

import { h, show } from "./dom.js";
import { wordsOf } from "./notice.js";

// pendingNote says in a view why it is empty. A view that shows something keeps
// it while the server is at work.
export function pendingNote(element, problem) {
  const full = element.querySelector("section") !== null;
  if (problem.kind === "loading" && full) return;
  if (problem.kind === "no-model") {
    show(element, h("p", { class: "card soft" }, "There is no model yet: at least five values that differ are needed. Enter results under “Next”."));
    return;
  }
  const { title, text } = wordsOf(problem);
  show(element, h("p", { class: problem.kind === "loading" ? "card soft" : "card refusal", role: "status" }, text ? `${title}: ${text}` : title));
}
