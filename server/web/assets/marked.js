// @ts-check
// Marked are the nodes that the map points out: one's own with numbers, suggestions with a question
// mark, the one that is chosen, and the one under the mouse.

import { pinHeight } from "./overlay.js";

/** @typedef {{ node: string, x?: number, y?: number, lat?: number, lon?: number, number?: number }} Spot */

export const reach = 14; // pixels from a click to the node it selects

export class Marked {
  constructor() {
    /** @type {Spot[]} */
    this.pins = [];
    /** @type {Spot[]} */
    this.suggestions = [];
    /** @type {any} */
    this.chosen = null;
    /** @type {any} */
    this.hovered = null;
  }

  // set sets one of the lists: nodes with x and y, or with lat and lon in their place. Places may be
  // null, as long as they are not known.
  /** @param {"pins" | "suggestions"} kind @param {Spot[]} list @param {any} places */
  set(kind, list, places) {
    this[kind] = list.map((spot) => ({ ...spot }));
    this.locate(places);
  }

  // locate gives nodes that have only a place on the globe one in the plane.
  /** @param {any} places */
  locate(places) {
    if (!places?.head.projection) return;
    for (const spot of [...this.pins, ...this.suggestions]) {
      if (spot.x === undefined && Number.isFinite(spot.lat) && Number.isFinite(spot.lon)) [spot.x, spot.y] = places.project(spot.lat, spot.lon);
    }
  }

  // under is the pin or the suggestion at a point of the screen; null: there is none.
  /** @param {number} sx @param {number} sy @param {import("./camera.js").Camera} camera */
  under(sx, sy, camera) {
    const near = (/** @type {Spot} */ spot, /** @type {number} */ up) => {
      const [x, y] = camera.screen(spot.x, spot.y);
      return Math.hypot(x - sx, y - up - sy) <= reach;
    };
    const hit = this.pins.find((p) => near(p, pinHeight - 12) || near(p, 4)) ?? this.suggestions.find((s) => near(s, 0));
    return hit ? { node: hit.node, x: hit.x, y: hit.y } : null;
  }

  // drawn is what the overlay draws: what has a place, and no node twice.
  drawn() {
    const placed = (/** @type {Spot} */ s) => s.x !== undefined && s.y !== undefined;
    const numbered = new Set(this.pins.map((p) => p.node));
    return {
      pins: this.pins.filter(placed),
      suggestions: this.suggestions.filter((s) => placed(s) && !numbered.has(s.node)),
      chosen: this.chosen?.x === undefined ? null : this.chosen,
      hovered: this.hovered,
    };
  }
}
