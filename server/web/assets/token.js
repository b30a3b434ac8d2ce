// @ts-check
// The token of the server, if it requires one. It is kept while the tab is open.

import { field, h } from "./dom.js";

const place = "grfgp-token";
let asking = null;

// takeToken takes a token from the address, where a link may have it (#token=…), and
// removes it there, so that it is not copied on. It reports whether there was one.
export function takeToken() {
  const found = location.hash.match(/^#token=([^/&]+)$/);
  if (!found) return false;
  sessionStorage.setItem(place, decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

export function token() {
  return sessionStorage.getItem(place) ?? "";
}

// askToken asks the user, once for all calls that wait for it.
export function askToken(why) {
  asking ??= new Promise((resolve) => {
    const input = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
    const dialog = h("dialog", { class: "card", "aria-labelledby": "token-title", oncancel: (e) => e.preventDefault() },
      h("form", {
        onsubmit(event) {
          event.preventDefault();
          sessionStorage.setItem(place, input.value.trim());
          dialog.remove();
          asking = null;
          resolve(undefined);
        },
      },
      h("h2", { id: "token-title" }, "This server requires a token"),
      why && h("p", { class: "wrong", role: "alert" }, why),
      field("Token", input, "Ask whoever runs the server. It is forgotten when this tab is closed."),
      h("p", { class: "actions" }, h("button", { class: "primary" }, "Continue"))));
    document.body.append(dialog);
    dialog.showModal();
  });
  return asking;
}
