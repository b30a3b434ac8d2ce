// @ts-check
// What a card says: where a node is, what is expected there, and what became of its trial.

import { number, percent, resultText, withUnit } from "./format.js";

// placeOf returns the place of a node as text, with an address that opens a map, or null.
export function placeOf({ lat, lon, x, y, label, node }, apple = /iPhone|iPad|Macintosh/.test(globalThis.navigator?.userAgent ?? "")) {
  if (Number.isFinite(lat) && Number.isFinite(lon)) {
    const at = `${lat.toFixed(5)},${lon.toFixed(5)}`;
    const name = encodeURIComponent(label || node);
    return { text: at.replace(",", ", "), href: apple ? `maps:?ll=${at}&q=${name}` : `geo:${at}?q=${at}(${name})` };
  }
  return Number.isFinite(x) && Number.isFinite(y) ? { text: `${number(x)}, ${number(y)}`, href: null } : null;
}

// rangeWords says what is expected.
export function rangeWords({ lower, upper, mean, sd, expected, probability }, settings) {
  const known = mean !== undefined && sd !== undefined;
  const low = lower ?? (known ? mean - 1.96 * sd : undefined);
  const high = upper ?? (known ? mean + 1.96 * sd : undefined);
  if (expected) return `Expect ${expected}${probability === undefined ? "" : `, ${percent(probability)}`}`;
  return low === undefined || high === undefined ? "" : withUnit(`Expect ${number(low, 3)} to ${number(high, 3)}`, settings);
}

// untilWords says until when a node is reserved, in the words of the day.
export function untilWords(text, now = new Date()) {
  const end = new Date(text);
  if (Number.isNaN(end.getTime())) return "";
  if (end <= now) return "the reservation has ended; a result still counts";
  const time = end.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((midnight(end) - midnight(now)) / 86_400_000);
  const day = days === 0 ? "" : days === 1 ? "tomorrow " : `${end.toLocaleDateString("en-GB", { weekday: days < 7 ? "short" : undefined, day: "numeric", month: "short" })}, `;
  return `reserved until ${day}${time}`;
}

const counts = "Your result still counts.";

// endedWords says what became of a trial, and of the study, for somebody who has it before
// them; "" if nothing did.
export function endedWords(trial, study, settings) {
  return [stateWords(trial, settings), statusWords(study)].filter(Boolean).join(" ");
}

function stateWords(trial, settings) {
  const { state, by, note, until } = trial;
  const who = by || "somebody";
  const why = note ? `: “${note}”` : "";
  switch (state) {
    case "done": return `Saved by ${who}: ${withUnit(resultText(trial, settings), settings)}${note ? ` (“${note}”)` : ""}.`;
    case "failed": return `${capital(who)} could not measure here${why}.`;
    case "abandoned": return `${capital(who)} marked this node as never to be measured${why}. ${counts}`;
    case "released": return `${capital(who)} gave this node back. ${counts}`;
    case "expired": return `The reservation has ended. ${counts}`;
    case "retracted": return "The result of this node was retracted.";
  }
  return state === "pending" && new Date(until) <= new Date() ? `The reservation has ended. ${counts}` : "";
}

function statusWords(study) {
  const status = study?.status;
  if (status === "closed") return "The study is closed. Results for nodes already reserved are still taken.";
  if (status === "archived") return "The study is archived: nothing can be saved until it is restored. What you type is kept in this browser.";
  return "";
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// slipWords asks about a value that is far from what is expected; likely says whether another one was probably meant.
export function slipWords(typed, { low, high, likely: meant }, likely, settings) {
  return `${typed} is far from ${withUnit(`${number(low)} to ${number(high)}`, settings)}.${likely ? ` Did you mean ${meant}?` : " Is it right?"}`;
}
