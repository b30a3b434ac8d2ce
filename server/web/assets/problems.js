// @ts-check
// What the server refuses, in the words of the page. The server's own words are for programs.

import { sentence } from "./words.js";

// titles are those of the kinds of problems.
const titles = {
  malformed: "The server did not understand this page",
  invalid: "Please check what you entered",
  "media-type": "The server cannot read this kind of file",
  "not-finite": "A number is not finite",
  "unknown-node": "The network has no such node",
  conflict: "This is not possible now",
  "too-large": "This is too large for the server",
  busy: "The server is busy",
  slow: "The connection is too slow",
  slowed: "Too many wrong tokens",
  role: "Your role does not allow this",
  "read-only": "This server is read-only",
  "cross-site": "This page comes from another site",
  "unknown-proxy": "The server does not know the proxy between you and it",
  "wrong-host": "The server does not answer to this address",
  "bad-data": "The file cannot be used",
  quarantined: "The model is set aside",
  unavailable: "The server cannot reach its store",
  "no-draft": "The files must be read again",
  internal: "Something went wrong in the server",
};

// texts replace those that would tell a reader of the page nothing.
const texts = {
  malformed: "It may be older than the server: reload it, and try again.",
  busy: "Too much is going on at once. Try again in a moment.",
  slow: "What was sent did not arrive in time. Try again over a faster connection.",
  internal: "Try again; if it goes on, tell whoever runs the server.",
  "media-type": "Choose a table: CSV or TSV, or GraphML for a network.",
};

// kinds are the words with which details of the server begin, and which the title has said.
const kinds = /^(?:row \d+: )?(?:not valid|conflict|not found|no such node|busy|not ready yet|not a finite number|there is no model yet|too large): /i;

// wordsOfProblem returns the title and the text of a problem.
/** @param {{ kind?: string, title: string, detail?: string }} problem */
export function wordsOfProblem({ kind = "", title, detail = "" }) {
  if (texts[kind] !== undefined) return { title: titles[kind], text: texts[kind] };
  let text = detail.replace(kinds, "");
  if (text.toLowerCase().startsWith(`${title.toLowerCase()}: `)) text = text.slice(title.length + 2);
  text = text.replace(/\bthe body\b/g, "the file").replace(/; \/v1\/meta reports the limits/, "").replace(/\bthe graph\b/g, "the network");
  return { title: titles[kind] ?? title, text: sentence(text) };
}

// waitWords says what the server is at work on. The page tries again by itself, so that nobody is told to.
/** @param {{ kind?: string, title: string, detail?: string }} problem */
export function waitWords(problem) {
  const { text } = wordsOfProblem(problem);
  return text.replace(/;? *(?:please )?try again (?:soon|later|in a moment)\.?$/i, " …") || "The server is working …";
}
