// The controls in which a result is typed: its value and, where the study has exposures,
// the exposure or the number tested.

import { field, h } from "./dom.js";
import { parseNumber, sizeName } from "./format.js";
import { accept } from "./notice.js";

export class ResultInput {
  constructor(id, name, settings) {
    const input = (at, props) => {
      const made = h("input", { id: at, inputmode: "decimal", autocomplete: "off", ...props, oninput: () => accept(made) });
      return made;
    };
    const size = sizeName(settings);
    this.value = input(id, { class: "value" });
    this.size = size && input(`${id}-size`, { class: "value" });
    const shares = settings.spec?.values === "share";
    this.fields = [field(shares ? "Positive" : name, this.value), this.size && field(shares ? "Tested" : "Exposure", this.size)];
  }

  // read returns the result. at is the control that an error is about.
  read() {
    this.at = this.value;
    const result = { value: parseNumber(this.value.value) };
    if (this.size) {
      this.at = this.size;
      result.exposure = parseNumber(this.size.value);
      this.at = this.value;
    }
    return result;
  }

  clear() {
    this.value.value = "";
    if (this.size) this.size.value = "";
  }
}
