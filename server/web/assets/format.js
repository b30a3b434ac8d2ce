// @ts-check
// Numbers and times as people read them.

// number formats with four digits, a dash if v is not a finite number.
export function number(v, digits = 4) {
  if (v === null || v === undefined || !Number.isFinite(v)) return "–";
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 1e6 || size < 1e-4) return v.toExponential(digits - 1).replace("e+", "e").replaceAll("-", "−");
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return String(Number(v.toFixed(decimals))).replace("-", "−");
}

// count groups thousands.
export function count(n) {
  return Math.round(n).toLocaleString("en-GB");
}

// plural is "1 node" or "3 nodes".
export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

export function percent(share) {
  return Number.isFinite(share) ? `${Math.round(share * 100)} %` : "–";
}

const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "short", timeStyle: "medium" });

// moment is a point in time, in the reader's own time zone.
export function moment(text) {
  const t = new Date(text);
  return Number.isNaN(t.getTime()) ? "–" : clock.format(t);
}

// until says how long it is from now to a point in time.
export function until(text, now = Date.now()) {
  const seconds = Math.round((new Date(text).getTime() - now) / 1000);
  if (Number.isNaN(seconds)) return "–";
  const ago = seconds < 0;
  const s = Math.abs(seconds);
  const span = s < 90 ? `${s} s` : s < 5400 ? `${Math.round(s / 60)} min` : s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
  return ago ? `${span} ago` : `in ${span}`;
}

// lasting shortens a duration: 24h0m0s is 24h.
export function lasting(text) {
  return text.replace(/([hm])0s$/, "$1").replace(/h0m$/, "h");
}

// ticks are round numbers within a range, some five of them.
export function ticks(low, high, about = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) list.push(Number((k * step).toPrecision(12)));
  return list;
}

// withUnit is a text with the unit of the study, where it has one.
/** @param {string} text @param {{ unit?: string }} [settings] */
export function withUnit(text, { unit } = {}) {
  return unit ? `${text} ${unit}` : text;
}

// sizeName is the name of what a study takes with every value; null: nothing.
/** @param {{ exposures?: boolean, spec?: { values?: string } }} [settings] */
export function sizeName({ exposures, spec } = {}) {
  if (!exposures) return null;
  return spec?.values === "share" ? "tested" : "exposure";
}

// rate is a measurement on the scale of predictions: per unit of exposure, where it has one.
/** @param {{ value?: number, exposure?: number }} result */
export function rate({ value = NaN, exposure = 0 }) {
  return exposure > 0 ? value / exposure : value;
}

// resultText is a measurement with its exposure: 3 of 20, or 12 (exposure 8.4); or the class that was found.
/** @param {{ value?: number, exposure?: number, class?: string }} result @param {any} [settings] */
export function resultText({ value, exposure = 0, class: name }, { spec } = {}) {
  if (name !== undefined) return name;
  if (!(exposure > 0)) return number(value, 6);
  return spec?.values === "share" ? `${number(value, 6)} of ${number(exposure, 6)}` : `${number(value, 6)} (exposure ${number(exposure, 6)})`;
}

// uncertainty says how charts show the uncertainty of predictions: as 95 % credible intervals, or
// as one standard deviation where mean and standard deviation do not give these.
export function uncertainty({ values = "gaussian", transform = "none" } = {}) {
  return values === "gaussian" && transform === "none" ? { sds: 1.96, name: "95 % credible intervals" } : { sds: 1, name: "one standard deviation" };
}
