// The name of the user, which is sent with every change.

import { field, h } from "./dom.js";

const place = "grfgp-name";

export function person() {
  return localStorage.getItem(place) ?? "";
}

// personField asks for the name, and remembers it in this browser.
export function personField(id) {
  const input = h("input", { id, value: person(), maxlength: 80, autocomplete: "name", oninput: () => localStorage.setItem(place, input.value.trim()) });
  return field("Your name", input, "The log shows it with everything you do.");
}
