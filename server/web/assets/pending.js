// @ts-check
// The text of a view that has nothing to show yet.

import { h, show } from "./dom.js";
import { wordsOf } from "./notice.js";

// pendingNote shows in a view why it is empty. A view with content keeps it while the
// server is working.
export function pendingNote(element, problem) {
  const full = element.querySelector("section") !== null;
  if (problem.kind === "loading" && full) return;
  if (problem.kind === "no-model") {
    show(element, h("p", { class: "card soft" }, "There is no model yet: at least five measurements, not all equal, are needed. Enter results under “Next”."));
    return;
  }
  const { title, text } = wordsOf(problem);
  show(element, h("p", { class: problem.kind === "loading" ? "card soft" : "card refusal", role: "status" }, text ? `${title}: ${text}` : title));
}
