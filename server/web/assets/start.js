// @ts-check
// A new study, from files: they are read as soon as they are chosen, what was read is shown,
// questions about it are answered, and then the study is created.

import { get, patiently, post } from "./api.js";
import { SettingsForm } from "./create.js";
import { field, h, show } from "./dom.js";
import { assign, firstLineOf, nameFault, nameFor, parts } from "./files.js";
import { count } from "./format.js";
import { accept, busy, complain, refuse } from "./notice.js";
import { person } from "./person.js";
import { Reading } from "./reading.js";
import { may } from "./role.js";
import { address } from "./route.js";
import { upload } from "./upload.js";
import { bytes } from "./words.js";

// startPage is the page of a new study. The first page of a server without studies says more.
export async function startPage(meta, first = false) {
  const [{ graphs }, { studies }] = await Promise.all([get("/v1/graphs"), get("/v1/studies?archived=yes")]);
  if (!first) document.title = "New study · grfgp";
  return new StartPage(meta, graphs, studies, first || studies.length === 0).element;
}

class StartPage {
  constructor(meta, graphs, studies, first) {
    this.meta = meta;
    this.taken = studies.map((s) => s.name);
    this.settings = new SettingsForm(meta);
    this.settings.name.addEventListener("change", () => this.checkName());
    this.settings.name.addEventListener("input", () => { this.named = true; });
    this.settings.values.addEventListener("change", () => { this.options.values = ""; this.readIfMeasured(); });
    this.reading = new Reading((file, set) => this.choose(file, set));
    this.status = h("div", { role: "status", id: "reading-status" });
    this.known = h("select", { id: "new-graph", onchange: () => this.pickKnown() },
      h("option", { value: "" }, "a new network, from files"), graphs.map((g) => h("option", { value: g.id }, graphName(g))));
    /** @type {Record<string, HTMLInputElement>} */
    this.inputs = Object.fromEntries(parts.map((part) => [part, this.fileInput(part)]));
    this.forget();
    this.element = this.page(first, graphs.length > 0);
  }

  // forget drops what was read and chosen.
  forget() {
    this.stop?.abort();
    this.draft = null;
    this.asking = false; // questions are shown
    this.options = { values: "", files: {} };
    this.reading.hide();
    show(this.status);
  }

  fileInput(part) {
    const input = h("input", { type: "file", id: `new-${part}`, onchange: () => this.changed(part) });
    return input;
  }

  page(first, known) {
    const { limits } = this.meta;
    const allowed = may(this.meta, "run");
    const create = h("button", { class: "primary", id: "create", disabled: !allowed }, "Create the study");
    const most = `up to ${bytes(limits.graph_bytes)}`;
    const files = h("section", { class: "card drop", id: "files" },
      h("h2", null, "Your files"),
      h("p", { class: "soft" }, "Drop them here, or choose them one by one. Nothing is created until you say so."),
      known && field("Network to use", this.known),
      this.networkFields = h("div", { class: "fields" }, field("Network", this.inputs.edges, `A table with one edge per line: two nodes and, if there is one, a weight or a length. CSV, TSV or GraphML, also gzip or zstd, ${most}.`)),
      h("div", { class: "fields" }, field("Measurements (optional)", this.inputs.measurements, "A table with a node and a value per line.")),
      h("details", { id: "more-files" }, h("summary", null, "More files: places and names of nodes, where you may measure, costs"),
        h("div", { class: "fields" },
          this.nodeField = field("Node table", this.inputs.nodes, "A column id; if you have them, also name, lat, lon, x, y, cost, allowed and group. The model can use all other columns."),
          field("Nodes that may be suggested", this.inputs.allowed, "A list of ids. Without it, every node may be suggested."),
          field("Costs", this.inputs.costs, "A node and its cost per line. Without it, every node costs 1."))),
      this.status);
    this.listenToDrops(files);
    return h("form", { class: "create", novalidate: true, onsubmit: (e) => { e.preventDefault(); busy(create, () => this.create()); } },
      h("h1", null, first ? "Start with two files" : "New study"),
      first && h("p", null, "Bring a network and some measurements at its nodes. You get a map with a prediction for every node, and suggestions of where to measure next."),
      !allowed && h("p", { class: "refusal" }, this.meta.read_only ? "This server is read-only: no study can be created here." : `Your role, ${this.meta.role}, does not let you create studies.`),
      allowed && this.demo(first),
      files, this.reading.element, this.settings.main(), this.settings.more(),
      h("p", { class: "actions" }, create, this.said = h("span", { role: "alert", class: "refusal", id: "create-refusal" })));
  }

  // demo offers a study that is filled at once.
  demo(first) {
    const button = h("button", { type: "button", id: "demo", class: first ? "primary" : null, onclick: () => busy(button, () => this.openDemo()) }, "Open the demo");
    return h("section", { class: "card between demo" },
      h("div", null, h("h2", null, "No files at hand?"), h("p", { class: "soft" }, "The demo is the traffic of a made-up city: 150 sensors, some 1,200 junctions. It is ready within seconds.")),
      button);
  }

  async openDemo() {
    try {
      const by = person() ? `?by=${encodeURIComponent(person())}` : "";
      const study = await post(`/v1/demo${by}`);
      location.hash = address("studies", study.name, "map");
    } catch (error) {
      complain(error);
    }
  }

  // listenToDrops takes files that are dropped, each as what it looks like.
  listenToDrops(area) {
    const over = (on) => (event) => {
      event.preventDefault();
      area.classList.toggle("over", on);
    };
    area.addEventListener("dragover", over(true));
    area.addEventListener("dragleave", over(false));
    area.addEventListener("drop", async (event) => {
      over(false)(event);
      await this.drop([...event.dataTransfer.files]);
    });
  }

  async drop(files) {
    const looked = await Promise.all(files.map(async (file) => ({ name: file.name, firstLine: await firstLineOf(file), file })));
    const chosen = assign(looked);
    for (const [part, { file }] of chosen) {
      const held = new DataTransfer();
      held.items.add(file);
      this.inputs[part].files = held.files;
      this.took(part);
    }
    if (chosen.size > 0) await this.read();
  }

  async changed(part) {
    this.took(part);
    await this.read();
  }

  // took notes that a file was chosen: what was said about the one before no longer holds.
  took(part) {
    accept(this.inputs[part]);
    delete this.options.files[part];
    if (part === "measurements") this.options.values = "";
    if (["nodes", "allowed", "costs"].includes(part)) /** @type {HTMLDetailsElement} */ (document.getElementById("more-files")).open = true;
    const file = this.file("measurements") ?? this.file("edges");
    if (!this.named && file) {
      this.settings.name.value = nameFor(file.name, this.taken);
      accept(this.settings.name);
    }
  }

  file(part) {
    return this.inputs[part].files[0] ?? null;
  }

  // pickKnown takes a network of the server instead of files.
  async pickKnown() {
    const id = this.known.value;
    this.networkFields.hidden = this.nodeField.hidden = id !== "";
    this.settings.offer(null);
    await this.read();
    if (id === "" || this.draft) return;
    try {
      const { columns } = await (await patiently("GET", `/v1/graphs/${encodeURIComponent(id)}/columns`)).json();
      if (this.known.value === id) this.settings.offer(columns);
    } catch (error) {
      refuse(this.known, error);
    }
  }

  // choose keeps an answer and reads the files again.
  async choose(file, set) {
    for (const { option, role, value } of set) {
      const of = (this.options.files[file] ??= {});
      if (option === "values") this.options.values = this.setMeasured(value);
      else if (option === "columns") (of.columns ??= {})[role] = value;
      else of[option] = value;
    }
    await this.read();
  }

  // setMeasured answers what the values are.
  setMeasured(kind) {
    if (kind !== "gaussian") this.settings.values.value = kind;
    this.settings.adapt();
    return kind;
  }

  readIfMeasured() {
    if (this.file("measurements")) this.read();
  }

  // sent are the parts that are to be read.
  sent() {
    const known = this.known.value !== "";
    return ["nodes", "edges", "measurements", "allowed", "costs"].filter((part) => this.file(part) && !(known && ["nodes", "edges"].includes(part)));
  }

  // read sends the files and shows what the server found in them. A later reading replaces it.
  async read() {
    this.stop?.abort();
    this.draft = null;
    this.asking = false;
    show(this.said);
    Object.values(this.inputs).forEach(accept);
    const sent = this.sent();
    if (sent.length === 0 || this.known.value === "" && !sent.includes("edges")) {
      this.reading.hide();
      show(this.status, sent.length > 0 && h("p", { class: "soft" }, "Now choose the network that these nodes belong to."));
      return;
    }
    const stop = this.stop = new AbortController();
    window.addEventListener("hashchange", () => stop.abort(), { once: true, signal: stop.signal }); // somebody left the page
    try {
      const answer = await upload("/v1/drafts", this.form(sent), { onProgress: (done, all) => !stop.signal.aborted && this.tell(done, all), signal: stop.signal });
      this.takeIn(answer, sent);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.reading.hide();
      refuse(this.inputs[this.largest(sent)], error);
      show(this.status, h("button", { type: "button", id: "read-again", onclick: () => this.read() }, "Read the files again"));
      return;
    }
    if (this.stop === stop) show(this.status);
  }

  // takeIn shows an answer.
  takeIn(answer, sent) {
    this.draft = answer.draft ?? null;
    this.reading.show(answer, Object.fromEntries(sent.map((part) => [part, this.file(part).name])));
    this.settings.offer(this.draft ? answer.columns : null);
    this.asking = !this.draft;
    if (this.asking) this.pointAtQuestions();
  }

  pointAtQuestions() {
    this.reading.element.scrollIntoView({ block: "nearest" });
    this.reading.element.focus({ preventScroll: true });
  }

  largest(sent) {
    return sent.reduce((a, b) => (this.file(b).size > this.file(a).size ? b : a));
  }

  form(sent) {
    const form = new FormData();
    const { values, exposures } = this.settings.measured();
    form.append("options", JSON.stringify({ graph: this.known.value, values: values || this.options.values, exposures, files: this.options.files }));
    for (const part of sent) form.append(part, this.file(part));
    return form;
  }

  // tell shows how much was sent; everything: the server reads it.
  tell(done, all) {
    if (!this.bar?.isConnected) {
      this.bar = h("progress", { id: "reading-bar", "aria-label": "Reading the files" });
      this.words = h("span", { class: "soft" });
      show(this.status, h("p", { class: "reading-progress" }, this.bar, this.words));
    }
    if (done < all) {
      this.bar.max = all;
      this.bar.value = done;
      show(this.words, `Sending: ${bytes(done)} of ${bytes(all)}`);
    } else {
      this.bar.removeAttribute("value");
      show(this.words, "Reading the files …");
    }
  }

  checkName() {
    const fault = nameFault(this.settings.name.value.trim(), this.taken);
    if (fault) refuse(this.settings.name, { title: fault.replace(/\.$/, "") }, false);
    else accept(this.settings.name);
    return fault === "";
  }

  // create creates the study, if everything is there.
  async create() {
    show(this.said);
    if (this.known.value === "" && !this.file("edges")) return refuse(this.inputs.edges, { title: "Choose the file of the network first" });
    if (!this.checkName()) return this.settings.name.focus();
    try {
      const settings = this.settings.settings();
      if (this.asking) return this.pointAtQuestions(); // a new reading would take the answers away from under the finger
      if (this.sent().length > 0 && !this.draft) await this.read();
      if (this.sent().length > 0 && !this.draft) return;
      location.hash = address("studies", (await this.post(settings)).name, "next");
    } catch (error) {
      this.refused(error);
    }
  }

  // post creates the study from what was read. If the server has forgotten that, it reads again.
  async post(settings) {
    const query = new URLSearchParams(person() ? { by: person() } : {});
    if (!this.draft) return this.send(query, { ...settings, graph: this.known.value });
    query.set("draft", this.draft);
    try {
      return await this.send(query, settings);
    } catch (error) {
      if (error.kind !== "no-draft") throw error;
      await this.read();
      if (!this.draft) throw error;
      query.set("draft", this.draft);
      return this.send(query, settings);
    }
  }

  // send waits for a server that still loads a large network.
  async send(query, settings) {
    const wait = () => show(this.status, h("p", { class: "working" }, "Loading the network …"));
    return (await patiently("POST", `/v1/studies?${query}`, { body: settings }, wait)).json();
  }

  // refused shows an error at the field that it is about.
  refused(error) {
    const inMeasurements = error.errors?.some(({ pointer }) => pointer.startsWith("#/observations"));
    const control = error.at ?? (inMeasurements ? this.inputs.measurements : this.settings.controlOf(error));
    if (control) return refuse(control, error);
    show(this.said, `${error.title ?? "Error in this page"}. ${error.detail ?? error.message ?? ""}`);
  }
}

// graphName describes a network of the server by the studies on it.
function graphName({ id, size, studies = [] }) {
  const on = studies.length > 0 ? `network of ${studies.slice(0, 3).join(", ")}` : `network ${id.slice(0, 12)}`;
  return `${on} (${count(Math.ceil(size / 1024))} KiB)`;
}
