// @ts-check
// Pointing finds the node that the mouse points at, or that was clicked, and tells its name and value.

import { get, studyPath } from "./api.js";
import { classWords } from "./classes.js";
import { h, show } from "./dom.js";
import { number, percent } from "./format.js";
import { reach } from "./marked.js";

/** @typedef {{ node?: string, number?: number, x: number, y: number }} Hit */

const mostKnown = 500; // nodes of which the server's answer is kept

export class Pointing {
  // map has the camera, what is marked, and, once they are there, places and data; repaint is called
  // when another node is pointed at.
  /** @param {string} study @param {any} map @param {() => void} repaint */
  constructor(study, map, repaint) {
    this.study = study;
    this.map = map;
    this.repaint = repaint;
    this.known = new Map(); // what the server said of nodes, by number or id, until something changes
    this.tip = h("div", { class: "map-tip", hidden: true, "aria-hidden": "true" });
  }

  // under returns what is drawn at a point of the screen: a marked node by its id, another one by its
  // number, or null.
  /** @returns {Hit | null} */
  under(sx, sy) {
    const { camera, places, marked } = this.map;
    if (!places || camera.zoom === 0) return null;
    const [x, y] = camera.place(sx, sy);
    return marked.under(sx, sy, camera) ?? this.markUnder(x, y) ?? this.rowUnder(x, y);
  }

  markUnder(x, y) {
    const { camera, places, data } = this.map;
    const columns = data?.columns;
    let best = null, least = (8 / camera.zoom) ** 2;
    for (let k = 0; k < (columns?.mark_x.length ?? 0); k++) {
      const [px, py] = places.position(columns.mark_x[k], columns.mark_y[k]);
      const d = (px - x) ** 2 + (py - y) ** 2;
      if (d < least) [best, least] = [{ number: columns.mark_number[k], x: px, y: py }, d];
    }
    return best;
  }

  rowUnder(x, y) {
    const { camera, places } = this.map;
    const row = places.nearest(x, y, reach / camera.zoom);
    if (row < 0) return null;
    const [px, py] = places.at(row);
    return { number: places.number(row), row, x: px, y: py };
  }

  // factsOf asks the server for what is known of a node that was hit.
  /** @param {{ node?: string, number?: number }} hit @param {AbortSignal} signal */
  async factsOf({ node, number: n }, signal) {
    const key = node ?? n;
    if (!this.known.has(key)) {
      const query = new URLSearchParams(node === undefined ? { number: String(n) } : { node });
      this.known.set(key, (await get(`${studyPath(this.study, "nodes")}?${query}`, { signal })).nodes[0]);
      if (this.known.size > mostKnown) this.known.delete(this.known.keys().next().value);
    }
    return this.known.get(key);
  }

  // forget is called when the study has changed.
  forget() {
    this.known.clear();
  }

  // hover shows the name and the value of what the mouse points at; at is null when it does not.
  hover(at) {
    this.asking?.abort();
    const { camera, marked } = this.map;
    const hit = at && this.under(at.x, at.y);
    const before = marked.hovered;
    marked.hovered = hit ?? null;
    if (before?.x !== hit?.x || before?.y !== hit?.y) this.repaint();
    this.tip.hidden = !hit;
    if (!hit) return;
    const [x, y] = camera.screen(hit.x, hit.y);
    this.tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    this.tip.classList.toggle("left", x > camera.width - 220);
    const { signal } = (this.asking = new AbortController());
    this.factsOf(hit, signal).then((facts) => {
      if (!signal.aborted) show(this.tip, h("b", null, facts.label || facts.node), facts.label && h("span", { class: "soft" }, ` ${facts.node}`), h("div", null, valueWords(facts)));
    }, () => {});
    if (!this.known.has(hit.node ?? hit.number)) show(this.tip, "…");
  }

  close() {
    this.asking?.abort();
  }
}

// valueWords says what is known of the value of a node.
export function valueWords(facts) {
  if (facts.chances) return classWords(facts);
  const { measured, value, mean, lower, upper, above } = facts;
  const parts = [];
  if (measured && Number.isFinite(value)) parts.push(`measured ${number(value)}`);
  else if (Number.isFinite(mean)) parts.push(`${number(mean)}, likely ${number(lower)} to ${number(upper)}`);
  else parts.push("no prediction yet");
  if (Number.isFinite(above)) parts.push(`above: ${percent(above)}`);
  return parts.join(" · ");
}
