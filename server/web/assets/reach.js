// @ts-check
// Whether the server is within reach, and whether it is the one that this page came from.

const listeners = new Set();
const mine = /\/assets\/([0-9a-f]{16})\//.exec(import.meta.url)?.[1]; // undefined: a page without a version

export const reach = { up: true, kept: null, outdated: false }; // kept: time of the answers that a browser kept

// onReach calls a function when that changes.
export function onReach(listener) {
  listeners.add(listener);
}

function set(fields) {
  const was = JSON.stringify(reach);
  Object.assign(reach, fields);
  if (JSON.stringify(reach) !== was) for (const listener of listeners) listener(reach);
}

// answered looks at every answer: that of an upgraded server says so, and one that the browser
// kept was not given by a server at all.
export function answered(response) {
  const kept = response.headers.get("Grfgp-Kept");
  if (kept !== null) return set({ up: false, kept });
  const theirs = response.headers.get("Grfgp-Page");
  set({ up: true, kept: null, outdated: reach.outdated || (mine !== undefined && theirs !== null && theirs !== mine) });
}

export function unanswered() {
  set({ up: false });
}
