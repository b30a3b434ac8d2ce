// @ts-check
// All measurements: a table that reaches to the first, with a filter, and a form for more.

import { get, studyPath } from "./api.js";
import { field, h, show, table } from "./dom.js";
import { moment, plural, resultText, withUnit } from "./format.js";
import { complain } from "./notice.js";
import { observeForm } from "./observe.js";
import { Refresher } from "./refresher.js";
import { retractButton } from "./retract.js";
import { may } from "./role.js";

const rows = 50; // that are added at a time

export function valuesView(context) {
  return new ValuesView(context);
}

class ValuesView {
  constructor(context) {
    this.context = context;
    this.wanted = rows;
    this.filter = h("input", { id: "values-filter", type: "search", autocomplete: "off", placeholder: "node, person or note", oninput: () => this.refresh() });
    this.status = h("p", { class: "soft", role: "status" }, "Loading …");
    this.body = h("div", null);
    this.older = h("button", { type: "button", id: "values-older", hidden: true, onclick: () => { this.wanted += rows; this.refresh(); } }, "Older measurements");
    this.element = h("div", { class: "values-view" },
      h("section", { class: "card wide" }, h("h2", null, "Measurements"), h("div", { class: "fields" }, field("Filter", this.filter)), this.status, this.body, h("p", { class: "actions" }, this.older)),
      may(context.meta, "measure") ? observeForm(context) : null);
    this.refresher = new Refresher((signal) => this.load(signal), complain);
    this.refresh();
  }

  refresh() {
    this.refresher.refresh();
  }

  // load reads pages, the newest first, until there are enough rows that match.
  async load(signal) {
    const text = this.filter.value.trim().toLowerCase();
    const found = [];
    let after = null, all = 0;
    do {
      const query = new URLSearchParams({ order: "desc", limit: String(Math.min(text === "" ? this.wanted : 1000, this.context.meta.limits.page)) });
      if (after !== null) query.set("after", after);
      const { observations, total, next } = await get(`${studyPath(this.context.name, "observations")}?${query}`, { signal });
      found.push(...observations.filter((o) => text === "" || `${o.node} ${o.label ?? ""} ${o.class ?? ""} ${o.by ?? ""} ${o.note ?? ""}`.toLowerCase().includes(text)));
      after = next ?? null;
      all = total;
    } while (after !== null && found.length <= this.wanted);
    this.draw(found.slice(0, this.wanted), all, after !== null || found.length > this.wanted, text !== "");
  }

  draw(observations, total, more, filtered) {
    const { settings } = this.context.study;
    this.older.hidden = !more;
    show(this.status, filtered ? `${observations.length}${more ? " or more" : ""} of ${plural(total, "measurement")} match.` : more ? `The newest ${observations.length} of ${plural(total, "measurement")}.` : `${plural(total, "measurement")}.`);
    show(this.body, table("Measurements, the newest first", [
      { name: "node", text: (o) => o.label ?? o.node, class: "t id" },
      { name: "value", text: (o) => withUnit(resultText(o, settings), settings) },
      may(this.context.meta, "measure") && { name: "state", text: (o) => (o.retracted ? "retracted" : retractButton(this.context, o)), class: "c" },
      { name: "when", text: (o) => moment(o.time), class: "c" },
      { name: "by", text: (o) => o.by ?? "", class: "t" },
      { name: "note", text: (o) => o.note ?? "", class: "t" },
    ].filter(Boolean), observations, filtered ? "No measurement matches." : "No measurements yet."));
  }

  close() {
    this.refresher.close();
  }
}
