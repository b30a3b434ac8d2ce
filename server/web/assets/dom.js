// @ts-check
// Elements are made here and nowhere else. Whatever comes from the server goes
// in as text, never as HTML.

/** @typedef {Record<string, any> | null} Props */

const svgSpace = "http://www.w3.org/2000/svg";

// h makes an element. In props, "on…" are listeners, true and false switch an
// attribute, null leaves it out; children are elements, texts, or lists of them.
/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props]
 * @param {...any} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = null, ...children) {
  return fill(document.createElement(tag), props, children);
}

// svg makes an element of a drawing.
/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props]
 * @param {...any} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, props = null, ...children) {
  return fill(/** @type {SVGElementTagNameMap[T]} */ (document.createElementNS(svgSpace, tag)), props, children);
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Props} props
 * @param {any[]} children
 * @returns {E}
 */
function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...parts(children));
  return element;
}

// parts are what is there of nested lists of children.
/** @param {any[]} children @returns {(Node | string)[]} */
function parts(children) {
  return children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false);
}

// show puts new children in place of old ones, and keeps the focus on the child
// of the same id.
/** @param {Element} parent @param {...any} children */
export function show(parent, ...children) {
  const focused = document.activeElement && parent.contains(document.activeElement) ? document.activeElement.id : "";
  parent.replaceChildren(...parts(children));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

// field is a labelled control; hint says what to enter.
/** @param {any} label @param {HTMLElement} control @param {any} [hint] */
export function field(label, control, hint) {
  const hintId = hint ? `${control.id}-hint` : null;
  if (hintId) control.setAttribute("aria-describedby", hintId);
  return h("div", { class: "field" },
    h("label", { for: control.id }, label),
    control,
    hint && h("p", { class: "hint", id: hintId }, hint));
}

// table makes one of columns { name, text: row → content, class } over rows.
/**
 * @param {string} caption
 * @param {{ name: any, text: (row: any) => any, class?: string }[]} columns
 * @param {any[]} rows
 * @param {string} [empty]
 */
export function table(caption, columns, rows, empty = "There is nothing here yet.") {
  if (rows.length === 0) return h("p", { class: "soft" }, empty);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", null,
      h("caption", { class: "unseen" }, caption),
      h("thead", null, h("tr", null, columns.map((c) => h("th", { class: c.class, scope: "col" }, c.name)))),
      h("tbody", null, rows.map((row) =>
        h("tr", null, columns.map((c) => h("td", { class: c.class }, c.text(row))))))));
}
