// A study: its header, its views, and the stream of events that updates them.

import { download, get, post, remove, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { count, moment, number, plural, rate } from "./format.js";
import { logView } from "./log.js";
import { mapView } from "./map.js";
import { nextView } from "./next.js";
import { busy, complain, say } from "./notice.js";
import { person } from "./person.js";
import { progressView } from "./progress.js";
import { Refresher } from "./refresher.js";
import { limitOf, may } from "./role.js";
import { address } from "./route.js";
import { follow } from "./stream.js";
import { trustView } from "./trust.js";

const views = [
  ["map", "Map", mapView],
  ["next", "Next", nextView],
  ["progress", "Progress", progressView],
  ["trust", "Trust", trustView],
  ["log", "Log", logView],
];

const working = { loading: "Loading", learning: "Learning" };

// stopWords tells who paused, closed or archived a study, when and why.
function stopWords({ status, stopped: { note, by, time } }) {
  return `${status}${by ? ` by ${by}` : ""} on ${moment(time)}${note ? `: ${note}` : ""}`;
}

export class StudyPage {
  constructor(meta, name) {
    this.name = name;
    this.meta = meta;
    this.title = h("div", null);
    this.actions = h("div", { class: "actions" });
    this.tiles = h("div", { class: "tiles" });
    this.tabs = h("nav", { class: "tabs", "aria-label": "Views of the study" },
      views.map(([view, text]) => h("a", { id: `tab-${view}`, href: address("studies", name, view) }, text)));
    this.body = h("div", { class: "view" });
    this.element = h("div", null,
      h("header", { class: "study-head" }, h("div", { class: "between" }, this.title, this.actions), this.tiles),
      this.tabs, this.body);
    this.shown = new Map(); // what was last drawn of the head, by part
    this.ending = new AbortController();
    this.context = { meta, name, study: null, changed: () => this.refresh() };
    this.refresher = new Refresher((signal) => this.load(signal), complain, 250);
  }

  // start loads the study and follows its events.
  async start() {
    const { signal } = this.ending;
    this.setStudy(await get(studyPath(this.name), { signal }));
    follow(this.name, this.study.seq, {
      signal,
      onEvents: (events) => this.happened(events),
      onEngine: (engine) => this.setEngine(engine),
      onLink: (up) => this.setLink(up),
    });
  }

  // open shows one of the views; the first time, it loads the study.
  async open(which) {
    this.started ??= this.start();
    await this.started;
    if (this.ending.signal.aborted) return;
    const [id, title, make] = views.find(([id]) => id === which) ?? views[0];
    document.title = `${title} · ${this.name} · grfgp`;
    for (const tab of this.tabs.children) {
      if (tab.id !== `tab-${id}`) tab.removeAttribute("aria-current");
      else tab.setAttribute("aria-current", "page");
    }
    this.tabs.querySelector("[aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
    if (this.which === id) return;
    this.which = id;
    this.view?.close();
    this.view = make(this.context);
    show(this.body, this.view.element);
  }

  async load(signal) {
    this.setStudy(await get(studyPath(this.name), { signal }));
  }

  refresh() {
    this.refresher.refresh();
    this.view?.refresh();
  }

  happened(events) {
    this.view?.events?.(events);
    this.refresh();
  }

  setEngine(engine) {
    const was = this.study.engine.state;
    this.setStudy({ ...this.study, engine });
    if (was !== engine.state && engine.state === "ready") this.refresh();
  }

  setLink(up) {
    if (this.linked !== up) {
      this.linked = up;
      this.setStudy(this.study);
    }
  }

  // setStudy redraws the changed parts of the header only, so that a button does not
  // disappear under the pointer.
  setStudy(study) {
    this.study = study;
    this.context.study = study;
    this.draw(this.title, [study.status, study.graph, study.engine, this.linked], () => this.titleOf(study));
    this.draw(this.actions, [study.status], () => this.actionsOf(study));
    this.draw(this.tiles, [study.values, study.trials, study.left, study.best], () => this.tilesOf(study));
  }

  draw(part, state, make) {
    const text = JSON.stringify(state);
    if (this.shown.get(part) === text) return;
    this.shown.set(part, text);
    show(part, make());
  }

  titleOf(study) {
    const { engine } = study;
    return [
      h("h1", { class: "id" }, study.name),
      h("p", { class: "soft" },
        h("span", { class: `badge ${study.status}` }, study.status), " ",
        goalName(study.settings.goal),
        study.graph.nodes !== undefined && ` · ${plural(study.graph.nodes, "node")}, ${plural(study.graph.edges, "edge")}`,
        this.linked === false && h("span", { class: "refusal" }, " · not connected, trying again …")),
      study.stopped && h("p", { class: "soft" }, stopWords(study)),
      working[engine.state] && h("p", { class: "working", role: "status" }, `${working[engine.state]}: ${engine.stage ?? "please wait"} …`),
      (engine.state === "failed" || engine.state === "quarantined") && h("p", { class: "refusal", role: "alert" }, engine.error),
    ];
  }

  actionsOf(study) {
    return [
      may(this.meta, "run") ? this.statusButtons(study) : h("span", { class: "badge" }, limitOf(this.meta)),
      h("button", { type: "button", id: "export", onclick: () => download(studyPath(this.name, "export"), `${this.name}.ndjson`).catch(complain) }, "Export"),
      h("a", { class: "button", id: "compare", href: address("compare", this.name) }, "Compare"),
    ];
  }

  statusButtons({ status }) {
    const button = (id, text, sure) => {
      const b = h("button", { type: "button", id, onclick: () => busy(b, () => this.command(id, sure)) }, text);
      return b;
    };
    const deletion = () => h("button", { type: "button", id: "delete", onclick: () => this.remove() }, "Delete");
    if (status === "archived") return [button("restore", "Restore"), deletion()];
    return [
      status === "open" && button("pause", "Pause"),
      status === "paused" && button("resume", "Resume"),
      status !== "closed" && button("close", "Close", "Close the study for good? There will be no more suggestions; results of pending trials are still accepted."),
      button("archive", "Archive", "Archive the study? It is then read-only and not listed, until it is restored."),
      status === "closed" && deletion(),
    ];
  }

  // remove deletes the study, if its name is repeated.
  async remove() {
    const name = window.prompt(`This deletes the study and all its measurements for good. To delete it, enter its name: ${this.name}`);
    if (name === null) return;
    try {
      await remove(`${studyPath(this.name)}?${new URLSearchParams({ confirm: name, by: person() })}`);
      say(`The study ${this.name} is deleted.`);
      location.hash = address();
    } catch (error) {
      complain(error);
    }
  }

  async command(which, sure) {
    if (sure && !window.confirm(sure)) return;
    try {
      this.setStudy(await post(studyPath(this.name, which), { by: person() }));
      say(`The study is ${this.study.status}.`);
      (document.getElementById("pause") ?? document.getElementById("resume") ?? document.getElementById("restore") ?? document.getElementById("export")).focus();
    } catch (error) {
      complain(error);
    }
  }

  tilesOf(study) {
    const { pending, done } = study.trials;
    const tile = (value, name) => h("div", { class: "tile" }, h("b", null, value), h("span", null, name));
    return [
      tile(count(study.values), study.values === 1 ? "measurement" : "measurements"),
      tile(count(pending), "pending"),
      study.left === undefined ? tile(count(done), "trials done") : tile(number(study.left), `of a budget of ${number(study.settings.budget)} left`),
      study.queued > 0 && tile(count(study.queued), "queued"),
      study.best && tile(number(rate(study.best)), ["best, at ", h("span", { class: "id" }, study.best.node)]),
    ];
  }

  close() {
    this.ending.abort();
    this.refresher.close();
    this.view?.close();
  }
}

// goalName describes the goal of a study.
export function goalName(goal) {
  const [kind, level] = goal.split("=");
  return { maximize: "maximize", minimize: "minimize", learn: "learn all nodes", threshold: `find nodes above ${level}` }[kind] ?? goal;
}
