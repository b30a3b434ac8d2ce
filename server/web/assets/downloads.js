// @ts-check
// Downloads: tables for spreadsheets, and a picture of the map.

import { download, studyPath } from "./api.js";
import { h } from "./dom.js";
import { busy, complain } from "./notice.js";

const best = { minimize: "mean", maximize: "-mean", learn: "-sd", threshold: "-above" }; // orders of the ranking

// downloadMenu offers the results of a study; picture makes a picture of the map, if there is one.
export function downloadMenu(context, picture) {
  const { name } = context;
  const predictions = `${studyPath(name, "predictions")}?format=csv`;
  const order = ({ goal, labels }) => (labels ? "probability" : best[goal.split("=")[0]] ?? "-mean");
  const item = (id, text, act) => {
    const button = h("button", { type: "button", id, onclick: () => busy(button, async () => {
      try {
        await act();
        menu.open = false;
      } catch (error) {
        complain(error);
      }
    }) }, text);
    return h("li", null, button);
  };
  const menu = h("details", { class: "menu", id: "downloads", onkeydown: (e) => e.key === "Escape" && (menu.open = false) },
    h("summary", { class: "button" }, "Download"),
    h("ul", { class: "card" },
      item("download-predictions", "Predictions of all nodes (CSV)", () => download(predictions, `${name}-predictions.csv`)),
      item("download-ranking", "Nodes ranked by the goal (CSV)", () => download(`${predictions}&sort=${order(context.study.settings)}`, `${name}-ranking.csv`)),
      item("download-values", "Measurements (CSV)", () => download(`${studyPath(name, "observations")}?format=csv`, `${name}-measurements.csv`)),
      picture && item("download-picture", "Picture of the map (PNG)", async () => save(await picture(), `${name}-map.png`))));
  return menu;
}

// save saves a blob as a file.
function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
