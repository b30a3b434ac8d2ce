// @ts-check
// The page without a network, and after an upgrade of the server.

import { onReach, reach } from "./reach.js";
import { h } from "./dom.js";

const tried = "grfgp-reloaded";

// keepPage lets the browser keep the page, so that it opens without a network. Browsers do so
// over HTTPS and on this machine only. What was read before the browser began to is read again.
export function keepPage(readAgain) {
  if (navigator.serviceWorker) {
    navigator.serviceWorker.addEventListener("controllerchange", readAgain, { once: true });
    navigator.serviceWorker.register("worker.js").catch(() => {}); // the page works without
  }
  onReach(tellUpgrade);
}

// reloadIfOutdated loads the page again if the server was upgraded, once for a version that
// does not come. What was typed is kept.
export function reloadIfOutdated() {
  const here = document.querySelector("script[src]").getAttribute("src");
  if (!reach.outdated || sessionStorage.getItem(tried) === here) return false;
  sessionStorage.setItem(tried, here);
  location.reload();
  return true;
}

function tellUpgrade() {
  if (!reach.outdated || document.getElementById("upgraded")) return;
  document.getElementById("notices").append(h("div", { class: "notice done", id: "upgraded", role: "status" },
    h("div", null, "The server was upgraded. Load the page again; what you typed is kept."),
    h("button", { type: "button", onclick: () => location.reload() }, "Reload")));
}
