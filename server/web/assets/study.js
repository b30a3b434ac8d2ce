// @ts-check
// A study: its header, its views, and the stream of events that updates them.

import { get, post, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { downloadMenu } from "./downloads.js";
import { count, moment, number, plural, rate } from "./format.js";
import { logView } from "./log.js";
import { nextView } from "./next.js";
import { busy, complain } from "./notice.js";
import { person } from "./person.js";
import { progressView } from "./progress.js";
import { Refresher } from "./refresher.js";
import { limitOf, may } from "./role.js";
import { address, seen } from "./route.js";
import { settingsView } from "./settings.js";
import { follow } from "./stream.js";
import { trustView } from "./trust.js";
import { valuesView } from "./values.js";

/** @type {[id: string, title: string, make: (context: any) => any][]} */
const views = [
  ["map", "Measure", nextView],
  ["progress", "Progress", progressView],
  ["trust", "Trust", trustView],
  ["values", "Values", valuesView],
  ["log", "Log", logView],
  ["settings", "Settings", settingsView],
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
    this.context = { meta, name, study: null, changed: () => this.refresh() };
    this.tabs = h("nav", { class: "tabs", "aria-label": "Views of the study" },
      views.map(([view, text]) => h("a", { id: `tab-${view}`, href: address("studies", name, view) }, text)));
    this.body = h("div", { class: "view" });
    this.downloads = downloadMenu(this.context, () => this.view.picture());
    this.element = h("div", { class: "study" },
      h("div", { class: "study-bar" },
        h("header", { class: "study-head" }, h("div", { class: "between" }, h("h1", { class: "id" }, name), this.downloads), this.title),
        this.tabs),
      this.body);
    this.ending = new AbortController();
    /** @type {Promise<void> | null} */
    this.started = null; // once: loading the study
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
    if (this.which !== id) {
      this.which = id;
      this.view?.close();
      this.view = make(this.context);
      this.spread(this.view.split === true);
      /** @type {HTMLElement} */ (this.downloads.querySelector("#download-picture")).hidden = !this.view.picture;
      show(this.body, this.view.element);
    }
    this.view.go?.(seen());
  }

  // spread gives the view all of the window, or a page that scrolls.
  spread(split) {
    this.element.classList.toggle("split", split);
    document.body.classList.toggle("full", split);
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

  // setStudy redraws the header where it has changed, so that a button does not disappear under
  // the pointer, and the view where it depends on the status.
  setStudy(study) {
    const was = this.study;
    this.study = study;
    this.context.study = study;
    const { goal, budget, unit } = study.settings;
    const state = JSON.stringify([study.status, study.graph, study.engine, study.values, study.trials, study.left, study.queued, study.best, goal, budget, unit, this.linked]);
    if (this.shown !== state) show(this.title, this.titleOf(study));
    this.shown = state;
    if (was && (was.status !== study.status || was.queued !== study.queued)) this.view?.refresh();
  }

  titleOf(study) {
    const { engine } = study;
    return [
      h("p", { class: "soft study-facts" },
        h("span", { class: `badge ${study.status}` }, study.status), " ",
        this.linked === false && h("span", { class: "refusal" }, "not connected, trying again … "),
        factsOf(study).map((fact, k) => [k > 0 && " · ", h("span", null, fact)]), " ",
        !may(this.meta, "run") && h("span", { class: "badge" }, limitOf(this.meta))),
      study.stopped && h("p", { class: "soft" }, stopWords(study)),
      working[engine.state] && h("p", { class: "working", role: "status" }, `${working[engine.state]}: ${engine.stage ?? "please wait"} …`),
      (engine.state === "failed" || engine.state === "quarantined") && h("p", { class: "refusal", role: "alert" }, engine.error, " ", may(this.meta, "run") && this.retryButton()),
    ];
  }

  // retryButton learns a model again that could not be learned.
  retryButton() {
    const button = h("button", { type: "button", id: "retry", onclick: () => busy(button, async () => {
      try {
        this.setStudy(await post(studyPath(this.name, "retry"), { by: person() }));
        this.refresh();
      } catch (error) {
        complain(error);
      }
    }) }, "Try again");
    return button;
  }

  close() {
    this.ending.abort();
    this.refresher.close();
    this.view?.close();
    document.body.classList.remove("full");
  }
}

// factsOf are the figures of a study, in words; those that people look for first come first, as
// a phone has room for some of them only.
function factsOf(study) {
  const unit = study.settings.unit ? ` ${study.settings.unit}` : "";
  return [
    study.left !== undefined && `${number(study.left)} of ${number(study.settings.budget)} left`,
    goalName(study.settings.goal),
    plural(study.values, "measurement"),
    `${count(study.trials.pending)} pending`,
    study.queued > 0 && `${count(study.queued)} queued`,
    study.best && ["best ", number(rate(study.best)), unit, " at ", h("span", { class: "id" }, study.best.node)],
    study.graph.nodes !== undefined && `${plural(study.graph.nodes, "node")}, ${plural(study.graph.edges, "edge")}`,
  ].filter(Boolean);
}

// goalName describes the goal of a study.
export function goalName(goal) {
  const [kind, level] = goal.split("=");
  return { maximize: "find the highest", minimize: "find the lowest", learn: "learn all nodes", threshold: `find nodes above ${level}` }[kind] ?? goal;
}
