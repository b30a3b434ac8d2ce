// @ts-check
// The list of studies, with search, order and deletion.

import { call, get } from "./api.js";
import { field, h, show } from "./dom.js";
import { moment, number, plural, rate } from "./format.js";
import { busy, complain } from "./notice.js";
import { limitOf, may } from "./role.js";
import { address } from "./route.js";
import { deleteStudy } from "./settings.js";
import { startPage } from "./start.js";
import { goalName } from "./study.js";

const few = 5; // studies that need no search

const orders = {
  newest: ["Last change", (a, b) => Date.parse(b.updated) - Date.parse(a.updated)],
  name: ["Name", (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true })],
  values: ["Most measurements", (a, b) => b.values - a.values],
};

export async function studiesPage(meta) {
  const { studies } = await get("/v1/studies");
  document.title = "Studies · grfgp";
  const start = studies.length === 0 && may(meta, "run") ? await startPage(meta, true) : null;
  return new StudiesPage(meta, studies, start).element;
}

class StudiesPage {
  // start is the page to begin with, where there is no study yet.
  constructor(meta, studies, start) {
    this.meta = meta;
    this.studies = studies;
    this.list = h("ul", { class: "studies" });
    this.status = h("p", { class: "soft", role: "status" });
    this.search = h("input", { id: "study-search", type: "search", autocomplete: "off", oninput: () => this.draw() });
    this.order = h("select", { id: "study-order", onchange: () => this.draw() }, Object.entries(orders).map(([id, [text]]) => h("option", { value: id }, text)));
    const run = may(meta, "run");
    this.tools = h("div", { class: "fields study-tools" }, field("Find a study", this.search), field("Order", this.order));
    this.element = start ? h("div", { class: "stack" }, start, h("div", { class: "actions" }, importButton(), this.archivedButton()), this.list) : h("div", null,
      h("div", { class: "between" },
        h("h1", null, "Studies"),
        !run ? h("span", { class: "badge" }, limitOf(meta)) : h("div", { class: "actions" }, importButton(), h("a", { class: "button primary", href: address("new") }, "New study"))),
      this.tools, this.status, studies.length === 0 ? empty(meta) : null, this.list, this.archivedButton());
    this.draw();
  }

  draw() {
    this.tools.hidden = this.studies.length <= few;
    const text = this.tools.hidden ? "" : this.search.value.trim().toLowerCase();
    const found = this.studies.filter((s) => text === "" || `${s.name} ${s.status} ${s.settings ? goalName(s.settings.goal) : ""}`.toLowerCase().includes(text)).sort(orders[this.order.value][1]);
    show(this.status, text === "" ? "" : `${found.length} of ${plural(this.studies.length, "study", "studies")} match.`);
    show(this.list, found.map((s) => this.card(s)));
  }

  // archivedButton adds archived studies to the list.
  archivedButton() {
    const button = h("button", { type: "button", id: "archived", onclick: () => busy(button, async () => {
      try {
        this.studies = (await get("/v1/studies?archived=yes")).studies;
        this.draw();
        button.remove();
      } catch (error) {
        complain(error);
      }
    }) }, "Show archived studies");
    return h("p", { class: "actions" }, button);
  }

  card(study) {
    const facts = study.problem ? [] : [
      goalName(study.settings.goal),
      plural(study.values, "measurement"),
      `${study.trials.pending} pending`,
      study.left !== undefined && `${number(study.left)} of ${number(study.settings.budget)} left`,
      study.best && `best ${number(rate(study.best))}`,
    ];
    const name = study.problem ? study.name : h("a", { class: "id", href: address("studies", study.name, "map") }, study.name);
    return h("li", { class: "card" },
      h("div", { class: "between" }, h("h2", { class: "id" }, name), h("span", { class: `badge ${study.status}` }, study.status)),
      study.problem ? h("p", { class: "soft" }, study.problem) : h("p", { class: "facts" }, facts.filter(Boolean).map((f) => h("span", null, f))),
      h("div", { class: "between" },
        h("p", { class: "soft" }, `last change ${moment(study.updated)}`),
        may(this.meta, "run") && h("button", { type: "button", class: "quiet", "aria-label": `Delete the study ${study.name}`, onclick: () => this.remove(study) }, "Delete …")));
  }

  remove(study) {
    deleteStudy(study.name, () => {
      this.studies = this.studies.filter((s) => s !== study);
      this.draw();
      this.search.focus();
    });
  }
}

function empty(meta) {
  return h("section", { class: "card" },
    h("h2", null, "No study yet"),
    h("p", null, "A study is a network with measurements at its nodes. It suggests which nodes to measure next, and predicts all others."),
    may(meta, "run") && h("p", { class: "actions" }, h("a", { class: "button primary", href: address("new") }, "Create a study")));
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
