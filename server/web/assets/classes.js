// @ts-check
// Colours of classes, ten and one for all others. With normal sight and with each kind of colour
// blindness (Machado et al., 2009) any two are 24 units apart in CIELAB at least, also from the paper. Where the model is
// unsure a colour is paler. app.css has the same colours.

import { dark } from "./colour.js";
import { h } from "./dom.js";
import { percent } from "./format.js";

const colours = {
  light: ["1f36ee", "c87f15", "2a684c", "b249d2", "9a2200", "222222", "87d287", "5a0087", "f0a5ff", "781e69"],
  dark: ["1a78ff", "ffdb22", "3ce18e", "c375cd", "d85116", "ffffff", "1e5a78", "963c2d", "782da5", "5a00ff"],
};
const others = { light: "9a9a9a", dark: "7c7c7c" };
const levels = 32; // of certainty
const palest = 0.28; // share of the colour where nothing is known

// mostColours is the number of classes that have a colour of their own.
export const mostColours = colours.light.length;

function palette() {
  const theme = /** @type {any} */ (dark).matches ? "dark" : "light";
  return [...colours[theme], others[theme]].map((hex) => [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16)));
}

// classNames are the classes of a study, in their order.
export function classNames({ settings, classes }) {
  return settings.classes ?? (classes ?? []).map((c) => c.class);
}

// listedClasses are the classes of a text with commas between them.
/** @param {string} text */
export function listedClasses(text) {
  return text.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

// classColour is the colour of a class in CSS.
export function classColour(k) {
  return `rgb(${palette()[Math.min(k, mostColours)].join(" ")})`;
}

// classRamp is the colour scale of a map of classes: for each colour its levels of certainty, mixed
// with the paper, a list of shares.
export function classRamp(paper) {
  const bytes = new Uint8Array(4 * levels * (mostColours + 1));
  palette().forEach((colour, k) => {
    for (let level = 0; level < levels; level++) {
      const share = palest + (1 - palest) * (level / (levels - 1));
      const at = 4 * (k * levels + level);
      for (let c = 0; c < 3; c++) bytes[at + c] = Math.round(share * colour[c] + (1 - share) * 255 * paper[c]);
      bytes[at + 3] = 255;
    }
  });
  return bytes;
}

// classShade is where a class has its colour on that scale, from 0 to 1. A probability no better
// than chance among so many classes is the palest.
export function classShade(k, probability, classes) {
  const chance = 1 / classes;
  const sure = Math.min(1, Math.max(0, (probability - chance) / (1 - chance)));
  const level = Math.round(sure * (levels - 1));
  return (Math.min(k, mostColours) * levels + level + 0.5) / (levels * (mostColours + 1));
}

// shadeClasses replaces the numbers and probabilities of classes in the columns of a map by their places
// on that scale, as whole numbers.
export function shadeClasses({ head: { classes }, columns }) {
  const table = new Uint16Array(256 * 256);
  for (let k = 0; k < Math.min(256, classes.length); k++) {
    for (let p = 0; p < 256; p++) table[256 * k + p] = Math.round(65535 * classShade(k, p / 255, classes.length));
  }
  for (const prefix of ["", "mark_"]) {
    const [number, probability] = [columns[`${prefix}class`], columns[`${prefix}probability`]];
    const shades = new Uint16Array(number.length);
    for (let i = 0; i < number.length; i++) shades[i] = table[256 * number[i] + probability[i]];
    columns[`${prefix}class`] = shades;
  }
}

// parted gives edges between nodes of different classes the colour of none: on the way from one place
// on the scale to another lie those of other classes. Values are those of both ends of every edge.
export function parted(values) {
  const wide = 65536 / (mostColours + 1);
  const none = Math.round(65535 * (mostColours * levels + 0.5) / (levels * (mostColours + 1)));
  for (let k = 0; k < values.length; k += 2) {
    if (Math.floor(values[k] / wide) !== Math.floor(values[k + 1] / wide)) values[k] = values[k + 1] = none;
  }
  return values;
}

// classLegend names the classes of a map.
export function classLegend(names) {
  const own = names.slice(0, mostColours);
  const key = (name, k) => h("li", null, h("span", { class: `class-key class-${k}` }), name);
  return h("div", { class: "class-legend" },
    h("span", { class: "ramp-name" }, "Most probable class, paler where unsure"),
    h("ul", { class: "legend" }, own.map(key), names.length > own.length && key(`${names.length - own.length} more classes`, mostColours)));
}

// chanceList shows classes with their probabilities, the most probable first, and not more than fit.
/** @param {{ class: string, probability: number }[]} chances */
export function chanceList(chances, most = 6) {
  const order = chances.map((_, k) => k).sort((a, b) => chances[b].probability - chances[a].probability);
  return h("ul", { class: "chances" }, order.slice(0, most).map((k) => h("li", null,
    h("span", { class: `class-key class-${Math.min(k, mostColours)}` }), h("span", null, chances[k].class), h("meter", { min: 0, max: 1, value: chances[k].probability, "aria-label": `probability of ${chances[k].class}` }), h("span", { class: "figure" }, percent(chances[k].probability)))));
}

// classWords says what is known of the class of a node.
export function classWords({ told, chances }) {
  if (told !== undefined) return `found to be ${told}`;
  const best = chances.reduce((a, b) => (b.probability > a.probability ? b : a));
  return `probably ${best.class} (${percent(best.probability)})`;
}
