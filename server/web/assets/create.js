// A new study: a graph, a goal, and limits.

import { call, get, patiently, post } from "./api.js";
import { ColumnChoice } from "./covariates.js";
import { field, h, show } from "./dom.js";
import { count, parseNumber, plural } from "./format.js";
import { accept, busy, refuse } from "./notice.js";
import { person, personField } from "./person.js";
import { may } from "./role.js";
import { address } from "./route.js";

const goals = [
  ["maximize", "Maximize: find the node with the highest value"],
  ["minimize", "Minimize: find the node with the lowest value"],
  ["learn", "Learn: predict all nodes well"],
  ["threshold", "Threshold: find the nodes above a level"],
];
const values = [
  ["", "numbers"],
  ["student", "numbers with outliers (Student's t)"],
  ["count", "counts: 0, 1, 2, …"],
  ["count+exposure", "counts with exposures: of an expected number, of people or time at risk"],
  ["share", "shares: positives among tested"],
  ["yes-no", "yes or no: 1 or 0"],
];
const policies = ["thompson", "ei", "ucb", "learn", "straddle", "random", "bfs", "dfs", "degree", "variance"];

export async function createPage(meta) {
  const [{ graphs }, { studies }] = await Promise.all([get("/v1/graphs"), get("/v1/studies")]);
  document.title = "New study · grfgp";
  return new CreatePage(meta, graphs, studies).element;
}

class CreatePage {
  constructor(meta, graphs, studies) {
    const input = (id, props) => {
      const made = h("input", { id, autocomplete: "off", ...props, oninput: () => accept(made) });
      return made;
    };
    const select = (id, options, chosen) => h("select", { id }, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    this.name = input("new-name", { required: true, maxlength: 128 });
    this.known = select("new-graph", [["", "a new network, from files"], ...graphs.map((g) => [g.id, graphName(g, studies)])], "");
    this.edges = input("new-edges", { type: "file" });
    this.nodes = input("new-nodes", { type: "file" });
    this.weights = select("new-weights", [["", "by the names of the columns"], ["similarity", "similarity: larger is closer"], ["distance", "distance: larger is farther"], ["ignore", "ignore: all edges have weight 1"]], "");
    this.goal = select("new-goal", goals, "maximize");
    this.level = input("new-level", { inputmode: "decimal" });
    this.budget = input("new-budget", { inputmode: "decimal" });
    this.lease = input("new-lease", { placeholder: "24h" });
    this.policy = select("new-policy", [["", "the default of the goal"], ...policies.map((p) => [p, p])], "");
    this.seed = input("new-seed", { inputmode: "numeric", placeholder: "0" });
    this.values = select("new-values", values, "");
    this.transform = select("new-transform", [["", "none"], ["log", "logarithm, of values above 0"], ["log1p", "logarithm of 1 + the value"], ["sqrt", "square root"]], "");
    this.columns = new ColumnChoice();
    this.read = h("button", { type: "button", id: "read-columns", onclick: () => busy(this.read, () => this.readColumns()) }, "Read the columns");
    this.roles = select("new-roles", [["", "tried, up to 20,000 nodes"], ["none", "not used"]], "");
    this.status = h("p", { role: "status", class: "soft" });
    this.element = this.form(meta);
    this.known.addEventListener("change", () => { this.adapt(); this.forget(); this.offerKnown(); });
    for (const control of [this.edges, this.nodes, this.weights]) control.addEventListener("change", () => this.forget());
    this.goal.addEventListener("change", () => this.adapt());
    this.adapt();
  }

  form(meta) {
    const button = h("button", { class: "primary", disabled: !may(meta, "run") }, "Create");
    this.files = h("div", { class: "fields" },
      field("Edges", this.edges, `A table of edges (CSV, TSV or GraphML, also compressed with gzip or zstd), up to ${count(meta.limits.graph_bytes / 2 ** 20)} MiB.`),
      field("Node table (optional)", this.nodes, "A column id; optional are label, lat, lon, x, y, cost, allowed and group. All other columns can be covariates."),
      field("Edge weights", this.weights));
    this.levelField = field("Level", this.level);
    return h("form", { class: "create", onsubmit: (e) => { e.preventDefault(); busy(button, () => this.create()); } },
      h("h1", null, "New study"),
      !may(meta, "run") && h("p", { class: "refusal" }, meta.read_only ? "This server is read-only: no study can be created here." : `Your role is ${meta.role}: those whose role is run can create studies.`),
      h("section", { class: "card" }, h("h2", null, "Name and network"),
        h("div", { class: "fields" }, field("Name", this.name, "Letters and digits; after the first character also - _ ."), field("Network", this.known)),
        this.files),
      h("section", { class: "card" }, h("h2", null, "Goal and budget"),
        h("div", { class: "fields" }, field("Goal", this.goal), this.levelField, field("What is measured", this.values),
          field("Budget", this.budget, "Total cost of all measurements; empty: no limit. A node costs 1 unless the node table gives another cost."),
          field("Lease", this.lease, "How long a suggested node stays reserved, as in 90m or 24h."),
          personField("new-by"))),
      h("section", { class: "card" }, h("h2", null, "What is known about the nodes"),
        h("p", { class: "soft" }, "The model may use columns of the node table beside the network (covariates). It uses them only where the measurements support it. Leave out a column that is known only after measuring."),
        this.columns.element, h("p", { class: "actions" }, this.read)),
      h("details", { class: "card" }, h("summary", null, "Advanced"),
        h("div", { class: "fields" }, field("Roles of nodes", this.roles, "Degrees, and which nodes a node is joined to, as covariates."),
          field("Scale of the model", this.transform, "For numbers whose spread grows with their size."), field("Acquisition policy", this.policy), field("Seed", this.seed, "The same seed and measurements give the same suggestions."))),
      h("p", { class: "actions" }, button, this.status));
  }

  // adapt hides fields that do not apply.
  adapt() {
    this.files.hidden = this.known.value !== "";
    this.edges.required = this.known.value === "";
    this.levelField.hidden = this.goal.value !== "threshold";
    this.level.required = this.goal.value === "threshold";
  }

  async create() {
    let at = this.name; // the control that an error is about
    const read = (control, parse = parseNumber) => {
      at = control;
      const v = parse(control.value);
      at = this.name;
      return v;
    };
    try {
      const settings = { name: this.name.value.trim(), goal: this.goal.value };
      if (settings.goal === "threshold") settings.goal += `=${read(this.level)}`;
      if (this.budget.value.trim() !== "") settings.budget = read(this.budget);
      if (this.lease.value.trim() !== "") settings.lease = this.lease.value.trim();
      if (this.policy.value !== "") settings.policy = this.policy.value;
      if (this.seed.value.trim() !== "") settings.seed = read(this.seed);
      settings.spec = Object.fromEntries(["roles", "values", "transform"].map((k) => [k, this[k].value]).filter(([, v]) => v !== ""));
      if (settings.spec.values === "count+exposure") Object.assign(settings, { exposures: true, spec: { ...settings.spec, values: "count" } });
      const covariates = this.columns.chosen();
      if (covariates.length > 0) settings.covariates = covariates;
      settings.graph = this.known.value || this.uploaded?.id || "";
      if (settings.graph === "") {
        at = this.edges;
        settings.graph = (await this.upload()).id;
        at = this.name;
      }
      const by = person() ? `?by=${encodeURIComponent(person())}` : "";
      const study = await post(`/v1/studies${by}`, settings);
      location.hash = address("studies", study.name, "next");
    } catch (error) {
      show(this.status, "");
      refuse(at, error);
    }
  }

  // forget drops what was read from files that have changed.
  forget() {
    this.uploaded = null;
    this.read.hidden = this.known.value !== "";
    this.columns.offer(null);
  }

  // offerKnown offers the columns of the network that is chosen, if any.
  async offerKnown() {
    const id = this.known.value;
    if (id === "") return;
    try {
      const { columns } = await (await patiently("GET", `/v1/graphs/${encodeURIComponent(id)}/columns`)).json();
      if (this.known.value === id) this.columns.offer(columns);
    } catch (error) {
      refuse(this.known, error);
    }
  }

  // readColumns sends the files and offers their columns.
  async readColumns() {
    accept(this.edges);
    try {
      if (this.edges.files.length === 0) throw { title: "Choose a file of edges first" };
      this.uploaded = await this.upload();
      this.columns.offer(this.uploaded.columns);
      this.read.hidden = true;
    } catch (error) {
      show(this.status, "");
      refuse(this.edges, error);
    }
  }

  // upload sends the files and returns the graph.
  async upload() {
    show(this.status, "Reading the network …");
    const form = new FormData();
    if (this.nodes.files.length > 0) form.append("nodes", this.nodes.files[0]);
    form.append("edges", this.edges.files[0]);
    const query = this.weights.value ? `?weights=${this.weights.value}` : "";
    const graph = await (await call("POST", `/v1/graphs${query}`, { body: form })).json();
    show(this.status, `${plural(graph.nodes, "node")}, ${plural(graph.edges, "edge")}.`);
    return graph;
  }
}

// graphName describes a graph by the studies on it.
function graphName({ id, size }, studies) {
  const users = studies.filter((s) => s.settings?.graph === id).map((s) => s.name);
  const on = users.length > 0 ? `network of ${users.slice(0, 3).join(", ")}` : id.slice(0, 12);
  return `${on} (${count(Math.ceil(size / 1024))} KiB)`;
}
