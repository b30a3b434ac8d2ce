// @ts-check
// Table lists all rows: sorted, filtered, some at a time.

const perPage = 25;

class Table {
  /** @param {Data} data @param {HTMLElement} section @param {(row: number) => void} chose */
  constructor(data, section, chose) {
    this.data = data;
    this.chose = chose;
    this.chosen = -1;
    this.by = ""; // key of the column that sorts
    this.down = false;
    this.page = 0;
    /** @type {number[]} */
    this.rows = [];
    this.head = /** @type {HTMLElement} */ (section.querySelector("thead"));
    this.body = /** @type {HTMLElement} */ (section.querySelector("tbody"));
    this.where = /** @type {HTMLElement} */ (section.querySelector(".where"));
    this.filter = /** @type {HTMLInputElement} */ (section.querySelector("input"));
    this.filter.addEventListener("input", () => this.fill());
    const press = (/** @type {string} */ name, /** @type {() => void} */ does) => section.querySelector(name)?.addEventListener("click", does);
    press(".before", () => this.turn(-1));
    press(".after", () => this.turn(1));
    press(".save", () => this.save());
    section.hidden = false;
    this.headings();
    this.fill();
  }

  headings() {
    const row = document.createElement("tr");
    const add = (/** @type {string} */ key, /** @type {string} */ name, /** @type {string} */ about, /** @type {string} */ style) => {
      const cell = element("th", style);
      const button = element("button", "", name);
      button.title = about;
      cell.setAttribute("aria-sort", this.by !== key ? "none" : this.down ? "descending" : "ascending");
      button.addEventListener("click", () => this.sort(key));
      cell.append(button);
      row.append(cell);
    };
    add("", "node", "in the order of the file", "t");
    for (const c of this.data.columns) add(c.key, c.name, c.about, c.kind === "class" ? "c" : "");
    this.head.replaceChildren(row);
  }

  // sort sorts by a column: large numbers first, then small ones.
  /** @param {string} key */
  sort(key) {
    this.down = this.by !== key ? key !== "" && this.data.column(key).kind !== "class" : !this.down;
    this.by = key;
    this.headings();
    this.fill();
    const keys = ["", ...this.data.columns.map((c) => c.key)];
    /** @type {HTMLElement | null} */ (this.head.querySelector(`th:nth-child(${keys.indexOf(key) + 1}) button`))?.focus();
  }

  // fill finds the rows and shows the first page.
  fill() {
    const wanted = this.filter.value.trim().toLowerCase();
    this.rows = [];
    for (let i = 0; i < this.data.length; i++) {
      if (wanted === "" || rankOf(this.data.ids[i], wanted) < 3 || rankOf(this.data.labels[i] ?? "", wanted) < 3 || this.inClass(i, wanted)) this.rows.push(i);
    }
    const sign = this.down ? -1 : 1;
    if (this.by === "") {
      if (this.down) this.rows.reverse();
    } else {
      const { values } = this.data.column(this.by);
      const last = (/** @type {number} */ i) => (Number.isNaN(values[i]) ? 1 : 0); // rows without a value
      this.rows.sort((a, b) => last(a) - last(b) || sign * (values[a] - values[b]) || a - b);
    }
    this.page = 0;
    this.show();
  }

  /** @param {number} row @param {string} wanted */
  inClass(row, wanted) {
    return this.data.columns.some((c) => c.kind === "class" && this.data.cell(c, row).toLowerCase().includes(wanted));
  }

  show() {
    const pages = Math.max(1, Math.ceil(this.rows.length / perPage));
    this.page = Math.min(pages - 1, Math.max(0, this.page));
    this.body.replaceChildren(...this.rows.slice(this.page * perPage, (this.page + 1) * perPage).map((i) => this.row(i)));
    const group = (/** @type {number} */ n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
    this.where.textContent = `page ${group(this.page + 1)} of ${group(pages)}, ${group(this.rows.length)} ${this.rows.length === 1 ? "node" : "nodes"}`;
  }

  /** @param {number} i */
  row(i) {
    const row = document.createElement("tr");
    row.classList.toggle("chosen", i === this.chosen);
    const name = element("td", "t");
    const button = element("button", "node");
    button.append(element("bdi", "", this.data.ids[i]));
    button.title = "show on the map";
    button.addEventListener("click", () => this.chose(i));
    name.append(button);
    if (this.data.labels[i]) name.append(" ", element("bdi", "soft", this.data.labels[i]));
    row.append(name);
    for (const c of this.data.columns) row.append(element("td", c.kind === "class" ? "c" : "", this.data.cell(c, i)));
    return row;
  }

  /** @param {number} by */
  turn(by) {
    this.page += by;
    this.show();
  }

  // choose marks a row; with go its page is shown.
  /** @param {number} row @param {boolean} go */
  choose(row, go) {
    this.chosen = row;
    if (go && row >= 0) {
      if (!this.rows.includes(row)) {
        this.filter.value = "";
        this.fill();
      }
      this.page = Math.floor(this.rows.indexOf(row) / perPage);
    }
    this.show();
    if (go) this.body.querySelector(".chosen")?.scrollIntoView({ block: "center" });
  }

  // save lets the reader keep all rows, as they are sorted and filtered, as CSV.
  save() {
    const { columns, ids, labels } = this.data;
    const text = (/** @type {string} */ t) => (/[",\r\n]/.test(t) ? `"${t.replaceAll('"', '""')}"` : t);
    const cell = (/** @type {Column} */ c, /** @type {number} */ i) =>
      c.kind === "class" ? text(this.data.cell(c, i)) : Number.isNaN(c.values[i]) ? "" : String(Number(c.values[i].toPrecision(7)));
    const named = labels.length > 0;
    const lines = [["node", ...(named ? ["label"] : []), ...columns.map((c) => c.key)].join(",")];
    for (const i of this.rows) lines.push([text(ids[i]), ...(named ? [text(labels[i])] : []), ...columns.map((c) => cell(c, i))].join(","));
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
    link.download = this.data.text.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}
