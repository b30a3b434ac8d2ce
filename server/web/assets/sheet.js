// @ts-check
// Sheet makes a list the lower part of the screen on a phone: it is dragged by its handle, or
// tapped, and never covers the whole map. On a desk it is a column, and the handle is hidden.

import { h } from "./dom.js";

const still = 6; // pixels that a tap may move
const stops = { low: 0.2, half: 0.48, high: 0.85 }; // shares of the height

export class Sheet {
  // frame is the element that the sheet is in.
  constructor(frame, ...contents) {
    this.frame = frame;
    this.handle = h("button", { type: "button", class: "sheet-handle" }, h("span", { "aria-hidden": "true" }));
    this.body = h("div", { class: "sheet-body" }, ...contents);
    this.element = h("div", { class: "sheet" }, this.handle, this.body);
    this.handle.addEventListener("pointerdown", (e) => this.grasp(e));
    this.handle.addEventListener("click", (e) => this.tap(e));
    this.settle("half");
  }

  // settle rests the sheet at one of its stops.
  settle(at) {
    this.at = at;
    this.element.dataset.at = at;
    this.frame.dataset.sheet = at;
    this.element.style.removeProperty("height");
    this.handle.setAttribute("aria-expanded", String(at !== "low"));
    this.handle.setAttribute("aria-label", { low: "Show the list", half: "Show more of the list", high: "Show more of the map" }[at]);
  }

  // tap raises the sheet, or lowers it. The click that ends a drag is no tap; one by keys is.
  tap(event) {
    if (!this.dragged || event.detail === 0) this.settle({ low: "half", half: "high", high: "half" }[this.at]);
  }

  grasp(event) {
    this.handle.setPointerCapture(event.pointerId);
    const from = { y: event.clientY, height: this.element.getBoundingClientRect().height };
    const whole = this.frame.getBoundingClientRect().height;
    let height = from.height;
    const move = (e) => {
      if (Math.abs(e.clientY - from.y) > still) this.dragged = true;
      height = Math.min(stops.high * whole, Math.max(stops.low * whole, from.height + from.y - e.clientY));
      this.element.style.setProperty("height", `${height}px`);
    };
    const drop = () => {
      this.handle.removeEventListener("pointermove", move);
      const near = Object.entries(stops).sort((a, b) => Math.abs(a[1] - height / whole) - Math.abs(b[1] - height / whole))[0][0];
      this.settle(this.dragged ? near : this.at);
    };
    this.dragged = false;
    this.handle.addEventListener("pointermove", move);
    this.handle.addEventListener("lostpointercapture", drop, { once: true });
  }

  // raise makes room for something that was chosen in it.
  raise() {
    if (this.at === "low") this.settle("half");
  }
}
