// @ts-check
// The name of the user, which is sent with every change: that of the token, or one that
// the user enters.

import { field, h } from "./dom.js";

const place = "grfgp-name";

let signed = ""; // the name of the token

// signAs says that the server knows the user by a token with this name.
export function signAs(name) {
  signed = name ?? "";
}

export function person() {
  return signed || (localStorage.getItem(place) ?? "");
}

// personField asks for the name, and remembers it in this browser. It says the name where
// the token has one.
export function personField(id) {
  if (signed) return h("p", { class: "soft" }, "Your name is ", h("b", { id }, signed), ". The log shows it with everything you do.");
  const input = h("input", { id, value: person(), maxlength: 80, autocomplete: "name", oninput: () => localStorage.setItem(place, input.value.trim()) });
  return field("Your name", input, "The log shows it with everything you do.");
}
