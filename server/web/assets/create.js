// @ts-check
// The settings of a new study: its name, goal and limits, and what is measured.

import { listedClasses } from "./classes.js";
import { ColumnChoice } from "./covariates.js";
import { field, h } from "./dom.js";
import { accept } from "./notice.js";
import { parseNumber } from "./numbers.js";
import { personField } from "./person.js";

const goals = [
  ["maximize", "Find the node with the highest value"],
  ["minimize", "Find the node with the lowest value"],
  ["learn", "Predict all nodes well"],
  ["threshold", "Find the nodes above a level"],
];

// choices are the kinds of values of the server, as options; a kind with an optional exposure is two of them.
function choices(kinds) {
  const all = kinds.flatMap(({ name, title, exposure, exposures }) => {
    const plain = [name === "gaussian" ? "" : name, title];
    return exposure === "optional" ? [plain, [`${name}+exposure`, `${title}, each with an exposure: ${exposures}`]] : [plain];
  });
  return [...all, ["class", "classes: names, such as oak or beech"]];
}

export class SettingsForm {
  // meta is what the server says of itself.
  constructor(meta) {
    this.kinds = meta.values;
    const input = (id, props) => {
      const made = h("input", { id, autocomplete: "off", ...props, oninput: () => accept(made) });
      return made;
    };
    const select = (id, options, chosen) => h("select", { id }, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    this.name = input("new-name", { required: true, maxlength: 128 });
    this.goal = select("new-goal", goals, "maximize");
    this.level = input("new-level", { inputmode: "decimal" });
    this.values = select("new-values", choices(meta.values), "");
    this.classes = input("new-classes", { placeholder: "oak, beech, pine" });
    this.classField = field("Classes", this.classes, "Names, with commas between them. Leave it empty to allow any class.");
    this.unit = input("new-unit", { maxlength: 20 });
    this.budget = input("new-budget", { inputmode: "decimal" });
    this.lease = input("new-lease", { inputmode: "decimal", value: "24" });
    this.leaseUnit = select("new-lease-unit", [["m", "minutes"], ["h", "hours"], ["d", "days"]], "h");
    this.leaseUnit.setAttribute("aria-label", "Unit of time");
    this.policy = select("new-policy", [["", "the default of the goal"], ...meta.policies.map((p) => [p, p])], "");
    this.seed = input("new-seed", { inputmode: "numeric", placeholder: "0" });
    this.transform = select("new-transform", [["", "none"], ["log", "logarithm, of values above 0"], ["log1p", "logarithm of 1 + the value"], ["sqrt", "square root"]], "");
    this.roles = select("new-roles", [["", "tried, up to 20,000 nodes"], ["none", "not used"]], "");
    this.columns = new ColumnChoice();
    this.levelField = field("Level", this.level);
    this.goal.addEventListener("change", () => this.adapt());
    this.values.addEventListener("change", () => this.adapt());
    this.adapt();
  }

  // main are the settings that everybody looks at.
  main() {
    return h("section", { class: "card" }, h("h2", null, "What do you want to know?"),
      h("div", { class: "fields" },
        field("Name of the study", this.name, "Letters and digits; after the first character also . - _"),
        field("Goal", this.goal), this.levelField,
        field("What is measured", this.values), this.classField,
        field("Unit", this.unit, "Such as mph or °C; shown with every value."),
        field("Budget", this.budget, "How many measurements you can make; leave it empty for no limit. With costs: their sum."),
        h("div", { class: "field" }, h("label", { for: this.lease.id }, "A node stays reserved for"), h("div", { class: "with-unit" }, this.lease, this.leaseUnit),
          h("p", { class: "hint" }, "Whoever takes a node has this long to measure it.")),
        personField("new-by")));
  }

  // more are the settings that most people leave alone.
  more() {
    return [
      this.known = h("details", { class: "card", id: "new-known" }, h("summary", null, "What else is known about the nodes"),
        h("p", { class: "soft" }, "The model may use columns of the node table in addition to the network. It uses them only where the measurements support it. Leave out a column that is known only after measuring."),
        this.columns.element),
      h("details", { class: "card" }, h("summary", null, "Advanced"),
        h("div", { class: "fields" }, field("Roles of nodes", this.roles, "Uses how many neighbours a node has, and which, as further columns."),
          field("Scale of the model", this.transform, "For numbers whose spread grows with their size."), field("How nodes are picked", this.policy), field("Seed", this.seed, "The same seed and measurements give the same suggestions."))),
    ];
  }

  // offer shows the columns of a network; null: it is not known yet.
  offer(columns) {
    this.columns.offer(columns);
    this.known.open = columns?.length > 0;
  }

  // adapt hides fields that do not apply.
  adapt() {
    const classes = this.values.value === "class";
    this.classField.hidden = !classes;
    this.goal.disabled = classes; // all nodes are predicted
    if (classes) this.goal.value = "learn";
    this.levelField.hidden = this.goal.value !== "threshold";
    this.level.required = this.goal.value === "threshold";
  }

  // measured says what is measured, in the terms of the API.
  measured() {
    const kind = this.values.value;
    const [name, exposed] = kind.split("+");
    return { values: name, exposures: exposed !== undefined || this.kinds.some((k) => k.name === name && k.exposure === "required") };
  }

  // settings are what was entered. An error has the control that it is about.
  settings() {
    const { values: kind, exposures } = this.measured();
    /** @type {Record<string, any>} */
    const made = { name: this.name.value.trim(), goal: this.goal.value };
    if (made.goal === "threshold") made.goal += `=${read(this.level)}`;
    if (this.unit.value.trim() !== "") made.unit = this.unit.value.trim();
    if (this.budget.value.trim() !== "") made.budget = read(this.budget);
    if (this.lease.value.trim() !== "") made.lease = this.leaseText(read(this.lease));
    if (this.policy.value !== "") made.policy = this.policy.value;
    if (this.seed.value.trim() !== "") made.seed = read(this.seed);
    if (exposures) made.exposures = true;
    const classes = kind === "class";
    if (classes) {
      made.labels = true;
      const list = listedClasses(this.classes.value);
      if (list.length > 0) made.classes = list; // else results bring them
    }
    made.spec = Object.fromEntries([["roles", this.roles.value], ["values", classes ? "" : kind], ["transform", this.transform.value]].filter(([, v]) => v !== ""));
    const covariates = this.columns.chosen();
    if (covariates.length > 0) made.covariates = covariates;
    return made;
  }

  leaseText(n) {
    if (!(n > 0)) throw { title: "Enter a time above 0", at: this.lease };
    return this.leaseUnit.value === "d" ? `${n * 24}h` : `${n}${this.leaseUnit.value}`;
  }

  // controlOf is the control that a refusal of the server is about; null: none in particular.
  controlOf({ kind, detail = "" }) {
    if (kind === "conflict" || /\bname\b/.test(detail)) return this.name;
    const found = [[/budget/, this.budget], [/lease|duration/, this.lease], [/policy/, this.policy], [/seed/, this.seed], [/threshold|level/, this.level], [/class/, this.classes], [/transform/, this.transform], [/values?\b|exposure/, this.values]]
      .find(([pattern]) => /** @type {RegExp} */ (pattern).test(detail));
    return /** @type {HTMLElement | null} */ (found?.[1] ?? null);
  }
}

// read is the number in a field.
function read(control) {
  try {
    return parseNumber(control.value);
  } catch (error) {
    throw Object.assign(error, { at: control });
  }
}
