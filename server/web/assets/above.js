// @ts-check
// Nodes above the level of a study that looks for them, the likeliest first.

import { patiently, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { count, number, percent } from "./format.js";
import { Refresher } from "./refresher.js";

const listed = 20;

export class Above {
  // onShow is told which node to show on the map.
  constructor(context, { onShow }) {
    this.onShow = onShow;
    this.element = h("section", { class: "above", id: "above" });
    this.refresher = new Refresher(async (signal) => {
      const path = `${studyPath(context.name, "predictions")}?sort=-above&limit=${Math.min(listed, context.meta.limits.page)}`;
      this.draw(await (await patiently("GET", path, { signal })).json());
    }, () => show(this.element), 2000);
    this.refresher.refresh();
  }

  draw({ level, above, total, nodes }) {
    show(this.element, h("details", { open: this.element.querySelector("details")?.open },
      h("summary", null, h("h2", null, `Likely above ${number(level)}: ${count(above)} of ${count(total)}`)),
      h("ol", { class: "suggestions" }, nodes.map((n) => h("li", { class: "between" },
        h("button", { type: "button", class: "link id", onclick: () => this.onShow(n) }, n.label || n.node),
        h("span", { class: "figure" }, percent(n.above))))),
      h("p", { class: "soft" }, "The chance of being above. The download of ranked nodes has all.")));
  }

  refresh() {
    this.refresher.refresh();
  }

  close() {
    this.refresher.close();
  }
}
