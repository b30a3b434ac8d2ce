// @ts-check
// Notices: errors, and confirmations of changes.

import { h } from "./dom.js";
import { wordsOfProblem } from "./problems.js";
import { times } from "./times.js";

const board = () => /** @type {HTMLElement} */ (document.getElementById("notices"));

const most = 3; // confirmations shown at a time

// say shows a confirmation for some seconds, longer if there is a way to undo what it tells.
export function say(text, undo) {
  [...board().querySelectorAll(".done:not([id])")].slice(0, 1 - most).forEach((old) => old.remove());
  const note = h("div", { class: "notice done", role: "status" }, h("div", null, text),
    undo && h("button", { type: "button", "aria-label": `Undo: ${text}`, onclick: () => { note.remove(); undo(); } }, "Undo"));
  board().append(note);
  setTimeout(() => note.remove(), undo ? times.undo : 6000);
}

// complain shows an error until it is dismissed, and no error twice.
export function complain(error) {
  // Where nobody waits for an answer, the head of the page tells that the server is gone.
  if (error.kind === "unreachable" && !document.querySelector("button[aria-busy]")) return;
  const { title, text } = wordsOf(error);
  const old = [...board().querySelectorAll(".wrong")].find((n) => n.getAttribute("data-text") === title + text);
  old?.remove();
  const note = h("div", { class: "notice wrong", role: "alert", "data-text": title + text },
    h("div", null, h("strong", null, title), text && h("p", null, text)),
    h("button", { type: "button", class: "quiet", "aria-label": `Dismiss: ${title}`, onclick: () => note.remove() }, "✕"));
  board().append(note);
}

// wordsOf returns the title and text of an error.
export function wordsOf(error) {
  if (error.title === undefined) return { title: "Error in this page", text: String(error.message ?? error) };
  return wordsOfProblem(error);
}

// refuse shows a problem at the control that it is about, and puts the focus
// there, unless the user is on the way elsewhere.
export function refuse(control, error, focus = true) {
  accept(control);
  const { title, text } = wordsOf(error);
  const note = h("p", { class: "refusal", id: `${control.id}-refusal`, role: "alert" }, text ? `${title}. ${text}` : title);
  control.setAttribute("aria-invalid", "true");
  control.dataset.described = control.getAttribute("aria-describedby") ?? "";
  control.setAttribute("aria-describedby", `${note.id} ${control.dataset.described}`.trim());
  (control.closest(".field") ?? control).append(note);
  if (focus) control.focus();
}

// accept removes a refusal.
export function accept(control) {
  document.getElementById(`${control.id}-refusal`)?.remove();
  control.removeAttribute("aria-invalid");
  if (control.dataset.described) control.setAttribute("aria-describedby", control.dataset.described);
  delete control.dataset.described;
}

// busy runs the work of a button, which ignores clicks until it is done. It is not
// disabled, because that would remove the focus.
export async function busy(button, work) {
  if (button.getAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } finally {
    button.removeAttribute("aria-busy");
  }
}
