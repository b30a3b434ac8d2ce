// @ts-check
// Drafts: what was typed and not saved, kept in the browser, so that neither another view nor
// a reload loses it.

const place = (...parts) => ["grfgp-draft", new URL("./", document.baseURI).pathname, ...parts.map((p) => encodeURIComponent(p))].join(":");

// draft returns what was kept of a part of a study, null if there is nothing.
export function draft(study, part) {
  try {
    return JSON.parse(localStorage.getItem(place(study, part)) ?? "null");
  } catch {
    return null;
  }
}

// keepDraft keeps something; null forgets it.
export function keepDraft(study, part, content) {
  try {
    if (content === null) localStorage.removeItem(place(study, part));
    else localStorage.setItem(place(study, part), JSON.stringify(content));
  } catch {
    // It is still in the field.
  }
}

// draftedTrials are the numbers of the trials of a study of which there are drafts.
export function draftedTrials(study) {
  const start = `${place(study)}:trial-`;
  return Object.keys(localStorage).filter((name) => name.startsWith(start)).map((name) => Number(name.slice(start.length)));
}
