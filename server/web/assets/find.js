// @ts-check
// FindBox finds nodes by id or label while one types.

import { get, sleep, studyPath } from "./api.js";
import { h, show } from "./dom.js";
import { complain } from "./notice.js";

const most = 8; // nodes offered
const pause = 120; // milliseconds without a key before the server is asked

export class FindBox {
  // found is called with the node that was chosen, as the server describes it.
  constructor(context, found) {
    this.context = context;
    this.found = found;
    this.nodes = [];
    this.active = -1;
    this.input = h("input", {
      id: "find", type: "search", placeholder: "Find a node", "aria-label": "Find a node by id or name", autocomplete: "off", spellcheck: "false",
      role: "combobox", "aria-expanded": "false", "aria-controls": "find-list", "aria-autocomplete": "list",
      oninput: () => this.offer(), onkeydown: (e) => this.key(e), onblur: () => this.hide(),
    });
    this.list = h("ul", { id: "find-list", role: "listbox", "aria-label": "Nodes found", hidden: true });
    this.element = h("form", { class: "find", role: "search", onsubmit: (e) => { e.preventDefault(); this.submit(); } }, this.input, this.list);
  }

  async ask(signal) {
    const query = new URLSearchParams({ find: this.input.value.trim(), limit: String(most) });
    return (await get(`${studyPath(this.context.name, "nodes")}?${query}`, { signal })).nodes;
  }

  // offer shows what matches the text so far. A later key ends what an earlier one began.
  async offer() {
    this.asking?.abort();
    const { signal } = (this.asking = new AbortController());
    if (this.input.value.trim() === "") return this.hide();
    try {
      await sleep(pause, signal);
      this.fill(await this.ask(signal));
    } catch (error) {
      if (!signal.aborted) this.hide();
    }
  }

  fill(nodes) {
    this.nodes = nodes;
    this.active = -1;
    show(this.list, nodes.length === 0 ? h("li", { class: "soft" }, "No node has this in its id or name.") : nodes.map((node, k) =>
      h("li", { role: "option", id: `find-${k}`, "aria-selected": "false", onpointerdown: (e) => { e.preventDefault(); this.take(node); } },
        node.label && h("span", null, node.label), " ", h("span", { class: node.label ? "soft id" : "id" }, node.node))));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.input.removeAttribute("aria-activedescendant");
  }

  hide() {
    this.asking?.abort();
    this.nodes = [];
    this.active = -1;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.nodes.length > 0) {
      event.preventDefault();
      this.mark((this.active + step + this.nodes.length) % this.nodes.length);
    } else if (event.key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      this.hide();
    }
  }

  mark(k) {
    this.list.children[this.active]?.setAttribute("aria-selected", "false");
    this.active = k;
    this.list.children[k].setAttribute("aria-selected", "true");
    this.input.setAttribute("aria-activedescendant", `find-${k}`);
  }

  // submit takes the node that is marked, or the one that matches best.
  async submit() {
    if (this.input.value.trim() === "") return;
    const marked = this.nodes[this.active];
    this.asking?.abort();
    try {
      const node = marked ?? (await this.ask())[0];
      if (node) this.take(node);
      else this.fill([]);
    } catch (error) {
      complain(error);
    }
  }

  take(node) {
    this.hide();
    this.found(node);
  }

  close() {
    this.asking?.abort();
  }
}
