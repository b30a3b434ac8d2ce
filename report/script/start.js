// @ts-check
// The page: maps, search, the node that is chosen, and the table of all nodes.

const data = new Data(JSON.parse(document.getElementById("data")?.textContent ?? "{}"));
const tools = /** @type {HTMLElement} */ (document.getElementById("tools"));
const card = /** @type {HTMLElement} */ (document.getElementById("card"));
const search = /** @type {HTMLInputElement} */ (tools.querySelector("input[type=search]"));
const hits = /** @type {HTMLElement} */ (tools.querySelector(".hits"));
const maps = new Maps(data, (row) => choose(row, false));
const table = new Table(data, /** @type {HTMLElement} */ (document.getElementById("table")), (row) => goToMap(row));

// choose shows a row everywhere; with show the maps move to it.
/** @param {number} row @param {boolean} show */
function choose(row, show) {
  maps.choose(row, show);
  table.choose(row, false);
  card.hidden = row < 0;
  if (row < 0) return;
  const back = element("button", "", "Show in the table");
  back.addEventListener("click", () => table.choose(row, true));
  const close = element("button", "close", "×");
  close.setAttribute("aria-label", "close");
  close.addEventListener("click", () => choose(-1, false));
  const far = Number.isNaN(data.x[row]) ? [element("p", "soft", "This node has no place on the map.")] : [];
  card.replaceChildren(close, ...describe(data, row), ...far, back);
}

/** @param {number} row */
function goToMap(row) {
  choose(row, true);
  tools.scrollIntoView({ block: "start" });
}

search.addEventListener("input", () => {
  const rows = data.found(search.value, 8);
  hits.replaceChildren(...rows.map((row) => {
    const hit = element("button", "");
    hit.append(element("bdi", "", data.ids[row]));
    if (data.labels[row]) hit.append(" ", element("bdi", "soft", data.labels[row]));
    hit.addEventListener("click", () => pick(row));
    return hit;
  }));
  if (rows.length === 0 && search.value.trim() !== "") hits.replaceChildren(element("span", "soft", "no such node"));
});

search.addEventListener("keydown", (e) => {
  if (e.key !== "Enter") return;
  e.preventDefault();
  const [row] = data.found(search.value, 1);
  if (row !== undefined) pick(row);
});

/** @param {number} row */
function pick(row) {
  hits.replaceChildren();
  choose(row, true);
}

const press = (/** @type {string} */ name, /** @type {() => void} */ does) => tools.querySelector(name)?.addEventListener("click", does);
press(".in", () => maps.zoom(1.6));
press(".out", () => maps.zoom(1 / 1.6));
press(".whole", () => maps.whole());
const marks = /** @type {HTMLInputElement} */ (tools.querySelector("input[type=checkbox]"));
marks.addEventListener("change", () => maps.mark(marks.checked));

// Nodes in lists of the page lead to the map.
document.querySelectorAll("[data-row]").forEach((cell) => {
  const row = Number(/** @type {HTMLElement} */ (cell).dataset.row);
  const button = element("button", "node");
  button.title = "show on the map";
  button.append(...cell.childNodes);
  button.addEventListener("click", () => goToMap(row));
  cell.append(button);
});

tools.hidden = false;
document.documentElement.classList.add("script");
