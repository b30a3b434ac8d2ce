// @ts-check
// The choice of a class, in studies of classes: buttons for a few, a list for many, and a field
// where results may bring new classes.

import { classNames, mostColours } from "./classes.js";
import { field, h } from "./dom.js";
import { accept } from "./notice.js";
import { ResultInput } from "./result.js";

const few = 8; // classes that are buttons

// resultInput are the controls for a result of a study: a value, or a class.
/** @param {string} id @param {string} name @param {any} study @param {{ about?: string, typed?: () => void }} [options] */
export function resultInput(id, name, study, options) {
  return study.settings.labels ? new ClassInput(id, name, study, options) : new ResultInput(id, name, study.settings, options);
}

// ClassInput has the methods of ResultInput.
export class ClassInput {
  // name is that of the field, about what it is for, and typed is called when the user chooses.
  constructor(id, name, study, { about = "", typed = () => {} } = {}) {
    const names = classNames(study);
    const changed = () => { accept(this.value); typed(); };
    const make = !study.settings.classes ? writeIn : names.length > few ? choose : buttons;
    const label = about === "" ? name : [name, h("span", { class: "unseen" }, ` ${about}`)];
    const { control, element } = make(id, label, names, changed);
    /** @type {any} */
    this.value = control;
    this.at = control;
    this.size = null;
    this.fields = [element];
  }

  // read returns the result.
  /** @returns {{ class?: string, value?: number, exposure?: number }} */
  read() {
    const chosen = this.value.value.trim();
    if (chosen === "") throw { title: "Choose a class" };
    return { class: chosen };
  }

  // texts are what is chosen, to be kept and filled in again.
  texts() {
    return { value: this.value.value };
  }

  fill({ value = "" } = {}) {
    this.value.value = value;
  }

  isEmpty() {
    return this.value.value.trim() === "";
  }

  clear() {
    this.fill();
  }
}

// buttons are radio buttons that look like buttons. The group has the value of the chosen one.
function buttons(id, label, names, changed) {
  const radios = names.map((value, k) => h("input", { type: "radio", name: id, id: `${id}-${k}`, value, onchange: changed }));
  const group = h("fieldset", { id, class: "classes", role: "radiogroup" }, h("legend", null, label),
    radios.map((radio, k) => h("label", { for: radio.id, class: "class-choice" }, radio, h("span", { class: `class-key class-${Math.min(k, mostColours)}` }), names[k])));
  Object.defineProperty(group, "value", {
    get: () => radios.find((r) => r.checked)?.value ?? "",
    set: (value) => { for (const r of radios) r.checked = r.value === value; },
  });
  group.focus = (options) => (radios.find((r) => r.checked) ?? radios[0]).focus(options);
  return { control: group, element: group };
}

function choose(id, label, names, changed) {
  const control = h("select", { id, class: "value", onchange: changed }, h("option", { value: "" }, "choose …"), names.map((value) => h("option", { value }, value)));
  return { control, element: field(label, control) };
}

function writeIn(id, label, names, changed) {
  const control = h("input", { id, class: "value", list: `${id}-classes`, autocomplete: "off", maxlength: 256, oninput: changed });
  const made = field(label, control);
  made.append(h("datalist", { id: `${id}-classes` }, names.map((value) => h("option", { value }))));
  return { control, element: made };
}
