// @ts-check
// Settings that can be changed while a study runs, and its life: pause, close, archive, delete.

import { call, download, post, remove, studyPath } from "./api.js";
import { listedClasses } from "./classes.js";
import { field, h, show } from "./dom.js";
import { lasting } from "./format.js";
import { accept, busy, complain, refuse, say } from "./notice.js";
import { person, personField } from "./person.js";
import { limitOf, may } from "./role.js";
import { address } from "./route.js";

export function settingsView(context) {
  return new SettingsView(context);
}

class SettingsView {
  constructor(context) {
    this.context = context;
    this.life = h("div", { class: "actions" });
    const run = may(context.meta, "run");
    this.element = h("div", { class: "settings-view" },
      run ? this.form() : h("p", { class: "card soft" }, `The settings cannot be changed here (${limitOf(context.meta)}).`),
      h("section", { class: "card" }, h("h2", null, "Study"), run && this.life,
        h("p", { class: "actions" },
          h("button", { type: "button", id: "export", onclick: () => download(studyPath(context.name, "export"), `${context.name}.ndjson`).catch(complain) }, "Back up as a file"),
          h("a", { class: "button", id: "compare", href: address("compare", context.name) }, "Compare with another study"))));
    this.refresh();
  }

  form() {
    const { settings } = this.context.study;
    const input = (id, value, props) => {
      const made = h("input", { id, value, autocomplete: "off", ...props, oninput: () => accept(made) });
      return made;
    };
    this.budget = input("set-budget", settings.budget ?? "", { inputmode: "decimal" });
    this.lease = input("set-lease", lasting(settings.lease));
    this.unit = input("set-unit", settings.unit ?? "", { maxlength: 40 });
    this.classes = input("set-classes", (settings.classes ?? []).join(", "));
    const listed = settings.classes && !settings.classes.some((name) => name.includes(","));
    const button = h("button", { class: "primary" }, "Save");
    return h("form", { class: "card", onsubmit: (e) => { e.preventDefault(); busy(button, () => this.save()); } },
      h("h2", null, "Settings"),
      h("div", { class: "fields" },
        field("Budget", this.budget, "The most that pending and finished measurements may cost together; empty: no limit."),
        field("Time to measure", this.lease, "How long a node stays reserved, such as 90m or 24h."),
        !settings.labels && field("Unit of the values", this.unit, "Such as mph or °C; empty: none."),
        listed && field("Classes", this.classes, "Names, with commas between them. Those that were found must stay."),
        personField("set-name")),
      h("p", { class: "actions" }, button));
  }

  // save sends what was changed.
  async save() {
    const { settings } = this.context.study;
    const patch = {};
    const budget = this.budget.value.trim().replace(",", ".");
    if (budget !== String(settings.budget ?? "")) patch.budget = budget === "" ? null : Number(budget);
    if (Number.isNaN(patch.budget)) return refuse(this.budget, { title: "The budget must be a number" });
    const lease = this.lease.value.trim();
    if (lease !== lasting(settings.lease)) patch.lease = lease;
    const unit = this.unit.value.trim();
    if (unit !== (settings.unit ?? "")) patch.unit = unit === "" ? null : unit;
    const classes = listedClasses(this.classes.value);
    if (this.classes.isConnected && classes.join() !== settings.classes.join()) patch.classes = classes;
    if (Object.keys(patch).length === 0) return say("Nothing was changed.");
    try {
      await call("PATCH", studyPath(this.context.name), /** @type {any} */ ({ body: { settings: patch, by: person() } }));
      say("The settings are saved.");
      this.context.changed();
    } catch (error) {
      if ("classes" in patch && /class|observation/.test(error.detail)) return refuse(this.classes, error);
      refuse("lease" in patch && /duration|lease/.test(error.detail) ? this.lease : "unit" in patch && /unit/.test(error.detail) ? this.unit : this.budget, error);
    }
  }

  refresh() {
    const { status } = this.context.study;
    if (this.status === status) return;
    this.status = status;
    show(this.life, this.buttons(status));
  }

  buttons(status) {
    const button = (id, text, sure) => {
      const b = h("button", { type: "button", id, onclick: () => busy(b, () => this.command(id, sure)) }, text);
      return b;
    };
    const deletion = () => h("button", { type: "button", id: "delete", onclick: () => deleteStudy(this.context.name, () => { location.hash = address(); }) }, "Delete");
    if (status === "archived") return [button("restore", "Restore"), deletion()];
    return [
      status === "open" && button("pause", "Pause"),
      status === "paused" && button("resume", "Resume"),
      status !== "closed" && button("close", "Close", "Close the study for good? There will be no more suggestions; results of pending trials are still accepted."),
      button("archive", "Archive", "Archive the study? It is then read-only and not listed, until it is restored."),
      status === "closed" && deletion(),
    ];
  }

  async command(which, sure) {
    if (sure && !window.confirm(sure)) return;
    try {
      const { status } = await post(studyPath(this.context.name, which), { by: person() });
      this.context.study.status = status;
      this.refresh();
      say(`The study is ${status}.`);
      this.context.changed();
      (document.getElementById("pause") ?? document.getElementById("resume") ?? document.getElementById("restore") ?? document.getElementById("export")).focus();
    } catch (error) {
      complain(error);
    }
  }

  close() {}
}

// deleteStudy deletes a study, if its name is repeated.
export async function deleteStudy(name, done) {
  const repeated = window.prompt(`This deletes the study and all its measurements for good. To delete it, enter its name: ${name}`);
  if (repeated === null) return;
  if (repeated !== name) return complain({ title: "That is not the name of this study", detail: `The study ${name} was not deleted.` });
  try {
    await remove(`${studyPath(name)}?${new URLSearchParams({ confirm: name, by: person() })}`);
    say(`The study ${name} is deleted.`);
    done();
  } catch (error) {
    complain(error);
  }
}
