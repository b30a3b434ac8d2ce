// Who is at the screen: a name that goes with everything they do.

import { field, h } from "./dom.js";

const place = "grfgp-name";

export function person() {
  return localStorage.getItem(place) ?? "";
}

// personField asks for the name, and remembers it in this browser.
export function personField(id) {
  const input = h("input", { id, value: person(), maxlength: 80, autocomplete: "name", oninput: () => localStorage.setItem(place, input.value.trim()) });
  return field("Your name", input, "It stands in the log beside what you do.");
}
