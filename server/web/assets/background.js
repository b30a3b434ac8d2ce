// @ts-check
// The switch of the background map. What draws it is loaded when somebody wants it.

import { h } from "./dom.js";
import { draft, keepDraft } from "./drafts.js";
import { complain } from "./notice.js";

export class Background {
  // about describes the map of the server, undefined if it has none; repaint is called when there is
  // more to draw.
  /** @param {string} study @param {any} about @param {() => void} repaint */
  constructor(study, about, repaint) {
    this.study = study;
    this.about = about;
    this.repaint = repaint;
    this.on = false;
    /** @type {import("./basemap/layer.js").Basemap | null} */
    this.layer = null;
    this.input = h("input", { type: "checkbox", id: "background-map", onchange: () => this.turn(this.input.checked) });
    this.element = h("label", { class: "choice", hidden: true }, this.input, "Background map");
    this.attribution = h("p", { class: "map-attribution", id: "map-attribution", hidden: true }, about?.attribution ?? "");
  }

  // offer shows the switch where the map covers something of a graph.
  offer(gl, { projection, bounds }) {
    this.gl = gl;
    this.projection = projection;
    if (!this.about || !projection || !meets(this.about.bounds, projection, bounds)) return;
    this.element.hidden = false;
    if (draft(this.study, "background-map")) this.turn(true);
  }

  // turn shows or hides the map, and remembers which.
  async turn(on) {
    this.on = this.input.checked = on;
    keepDraft(this.study, "background-map", on || null);
    this.attribution.hidden = !on || this.about.attribution === undefined;
    if (!on) {
      this.close();
      this.repaint();
      return;
    }
    try {
      const { Basemap } = await import("./basemap/layer.js");
      if (this.on && !this.layer) this.layer = new Basemap(this.gl, this.about, this.projection, { repaint: this.repaint, failed: (error) => this.fail(error) });
      this.repaint();
    } catch (error) {
      this.fail(error);
    }
  }

  // fail tells of an error, once.
  fail(error) {
    if (!this.failed) complain(error.title ? error : { title: "The background map cannot be shown", detail: String(error.message ?? error) });
    this.failed = true;
  }

  // draw draws the map, if it is on; colours are shares, as those of the scene.
  draw(camera, paper, dark) {
    if (this.on) this.layer?.draw(camera, paper, dark);
  }

  // renew begins again with other graphics.
  renew(gl) {
    this.gl = gl;
    this.layer = null; // its textures went with the old ones
    if (this.on) this.turn(true);
  }

  close() {
    this.layer?.close();
    this.layer = null;
  }
}

// meets tells whether a box of longitudes and latitudes and one of the plane have something in common.
export function meets([west, south, east, north], { lon, shrink }, [x0, y0, x1, y1]) {
  const middle = lon + (x0 + x1) / 2 / shrink, half = (x1 - x0) / 2 / shrink;
  const off = (((((west + east) / 2 - middle + 180) % 360) + 360) % 360) - 180; // degrees from one middle to the other
  return Math.abs(off) <= half + (east - west) / 2 && y0 <= north && south <= y1;
}
