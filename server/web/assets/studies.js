// All studies.

import { call, get } from "./api.js";
import { h, show } from "./dom.js";
import { moment, number, plural, rate } from "./format.js";
import { busy, complain } from "./notice.js";
import { limitOf, may } from "./role.js";
import { address } from "./route.js";
import { goalName } from "./study.js";

export async function studiesPage(meta) {
  const { studies } = await get("/v1/studies");
  const list = h("ul", { class: "studies" }, studies.map(card));
  document.title = "Studies · grfgp";
  return h("div", null,
    h("div", { class: "between" },
      h("h1", null, "Studies"),
      !may(meta, "run") ? h("span", { class: "badge" }, limitOf(meta)) : h("div", { class: "actions" }, importButton(), h("a", { class: "button primary", href: address("new") }, "New study"))),
    studies.length === 0 ? empty(meta) : null, list, archivedButton(list));
}

// archivedButton adds archived studies to a list.
function archivedButton(list) {
  const button = h("button", { type: "button", id: "archived", onclick: () => busy(button, async () => {
    try {
      const { studies } = await get("/v1/studies?archived=yes");
      show(list, studies.map(card));
      button.remove();
    } catch (error) {
      complain(error);
    }
  }) }, "Archived studies too");
  return h("p", { class: "actions" }, button);
}

function empty(meta) {
  return h("section", { class: "card" },
    h("h2", null, "No study yet"),
    h("p", null, "A study is a network with measurements at its nodes. It suggests which nodes to measure next, and predicts all others."),
    may(meta, "run") && h("p", { class: "actions" }, h("a", { class: "button primary", href: address("new") }, "Create a study")));
}

function card(study) {
  if (study.problem) {
    return h("li", { class: "card" },
      h("div", { class: "between" }, h("h2", { class: "id" }, study.name), h("span", { class: `badge ${study.status}` }, study.status)),
      h("p", { class: "soft" }, study.problem));
  }
  const facts = [
    goalName(study.settings.goal),
    plural(study.values, "measurement"),
    `${study.trials.pending} pending`,
    study.left !== undefined && `${number(study.left)} of ${number(study.settings.budget)} left`,
    study.best && `best ${number(rate(study.best))}`,
  ];
  return h("li", { class: "card" },
    h("div", { class: "between" },
      h("h2", null, h("a", { class: "id", href: address("studies", study.name, "map") }, study.name)),
      h("span", { class: `badge ${study.status}` }, study.status)),
    h("p", { class: "facts" }, facts.filter(Boolean).map((f) => h("span", null, f))),
    h("p", { class: "soft" }, `last change ${moment(study.updated)}`));
}

// importButton imports an exported study.
function importButton() {
  const file = h("input", { type: "file", id: "import-file", hidden: true, accept: ".jsonl,.ndjson,.json" });
  const button = h("button", { type: "button", onclick: () => file.click() }, "Import");
  file.addEventListener("change", () => busy(button, async () => {
    try {
      const response = await call("POST", "/v1/imports", { body: file.files[0], headers: { "Content-Type": "application/x-ndjson" } });
      location.hash = address("studies", (await response.json()).name, "map");
    } catch (error) {
      complain(error);
    } finally {
      file.value = "";
    }
  }));
  return [file, button];
}
