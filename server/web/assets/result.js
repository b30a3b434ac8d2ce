// @ts-check
// The controls in which a result is typed: its value and, where the study has exposures,
// the exposure or the number tested.

import { field, h } from "./dom.js";
import { sizeName } from "./format.js";
import { negated, parseNumber } from "./numbers.js";
import { accept } from "./notice.js";

export class ResultInput {
  // name is that of the field, about what it is for, and typed is called when the user types.
  constructor(id, name, settings, { about = "", typed = () => {} } = {}) {
    const input = (at, props) => {
      const made = h("input", { id: at, inputmode: "decimal", enterkeyhint: "done", autocomplete: "off", ...props, oninput: () => { accept(made); typed(); } });
      return made;
    };
    const size = sizeName(settings);
    const shares = settings.spec?.values === "share";
    this.typed = typed;
    this.value = input(id, { class: "value" });
    this.size = size && input(`${id}-size`, { class: "value" });
    this.fields = [
      this.signed(field(named(shares ? "Positive" : name, about), this.value), settings),
      this.size && field(named(shares ? "Tested" : "Exposure", about), this.size),
    ];
  }

  // signed adds the unit, and a key for the sign where values may be negative: some keypads
  // with digits have no minus.
  signed(made, settings) {
    const { values = "gaussian", transform = "none" } = settings.spec ?? {};
    const negative = ["gaussian", "student", ""].includes(values) && ["none", ""].includes(transform);
    const sign = negative && h("button", { type: "button", class: "sign", "aria-label": "Change the sign", onclick: () => this.negate() }, "±");
    if (!sign && !settings.unit) return made;
    // The key leaves the focus, and with it the keypad, where it is.
    if (sign) sign.addEventListener("pointerdown", (event) => event.preventDefault());
    const row = h("div", { class: "entry" });
    this.value.replaceWith(row);
    row.append(this.value, ...[sign, settings.unit && h("span", { class: "unit" }, settings.unit)].filter(Boolean));
    return made;
  }

  negate() {
    this.value.value = negated(this.value.value);
    accept(this.value);
    this.typed();
  }

  // read returns the result. at is the control that an error is about.
  read() {
    this.at = this.value;
    /** @type {{ value: number, exposure?: number }} */
    const result = { value: parseNumber(this.value.value) };
    if (this.size) {
      this.at = this.size;
      result.exposure = parseNumber(this.size.value);
      this.at = this.value;
    }
    return result;
  }

  // texts are what is typed, to be kept and filled in again.
  texts() {
    return this.size ? { value: this.value.value, size: this.size.value } : { value: this.value.value };
  }

  fill({ value = "", size = "" } = {}) {
    this.value.value = value;
    if (this.size) this.size.value = size;
  }

  isEmpty() {
    return Object.values(this.texts()).every((text) => text.trim() === "");
  }

  clear() {
    this.fill();
  }
}

// named is a short name on the screen, with what it is about for those who do not see.
function named(short, about) {
  return about === "" ? short : [short, h("span", { class: "unseen" }, ` ${about}`)];
}
