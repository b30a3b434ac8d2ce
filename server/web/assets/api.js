// @ts-check
// The server's API: one call at a time, problems as errors.

import { answered, unanswered } from "./reach.js";
import { askToken, token } from "./token.js";

// Problem is an error response, or a missing one.
export class Problem extends Error {
  constructor({ type = "", title = "Something went wrong", status = 0, detail = "", errors = [] }, retryAfter = 0) {
    super(title);
    this.kind = type.split(":").pop();
    this.title = title;
    this.status = status;
    this.detail = detail;
    this.errors = errors; // [{ pointer, detail }]
    this.retryAfter = retryAfter; // seconds
  }
}

// studyPath is the address of a study, or of something within.
export function studyPath(name, ...parts) {
  return ["/v1/studies", name, ...parts].map((p, k) => (k === 0 ? p : encodeURIComponent(p))).join("/");
}

export const get = (path, options) => call("GET", path, options).then((r) => r.json());
export const post = (path, body = {}, options) => call("POST", path, { ...options, body }).then((r) => r.json());
export const put = (path, body, options) => call("PUT", path, { ...options, body }).then((r) => r.json());
export const remove = (path, options) => call("DELETE", path, options).then((r) => r.json());

// call sends a request and returns the response, or throws a Problem. A body other than
// a file, form or text is sent as JSON. If the server requires a token, call asks the
// user for it and repeats the request; it waits where wrong tokens are slowed.
/**
 * @param {string} method
 * @param {string} path
 * @param {{ body?: any, headers?: object, signal?: AbortSignal }} [options]
 */
export async function call(method, path, { body, headers = {}, signal } = {}) {
  for (let refused = false; ; refused = true) {
    const used = token();
    const response = await send(method, path, body, headers, signal);
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (problem.kind === "slowed") {
      await sleep(problem.retryAfter * 1000, signal);
      continue;
    }
    if (problem.status !== 401) throw problem;
    if (token() !== used) continue; // another call has got one meanwhile
    await askToken(refused ? "The server refused that token." : "");
  }
}

// send sends a request to a path of the server, which the page may have under a path of its
// own.
async function send(method, path, body, headers, signal) {
  const head = new Headers(headers);
  if (token()) head.set("Authorization", `Bearer ${token()}`);
  const raw = body === undefined || body instanceof Blob || body instanceof FormData || typeof body === "string";
  if (!raw) head.set("Content-Type", "application/json");
  try {
    const response = await fetch(`.${path}`, { method, headers: head, signal, body: raw ? body : JSON.stringify(body) });
    answered(response);
    return response;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    unanswered();
    throw new Problem({ type: "unreachable", title: "The server cannot be reached", detail: "Check your connection and try again. What you entered is still here." });
  }
}

async function problemOf(response) {
  const after = Number(response.headers.get("Retry-After")) || 0;
  try {
    return new Problem(await response.json(), after);
  } catch {
    return new Problem({ status: response.status, title: `The server answered ${response.status} ${response.statusText}` }, after);
  }
}

// patiently repeats a call while the server answers that it is loading or fitting;
// onWait is called before every wait.
/**
 * @param {string} method
 * @param {string} path
 * @param {Parameters<typeof call>[2]} [options]
 * @param {(error: Problem) => void} [onWait]
 */
export async function patiently(method, path, options, onWait = () => {}) {
  for (;;) {
    try {
      return await call(method, path, options);
    } catch (error) {
      if (error.kind !== "loading") throw error;
      onWait(error);
      await sleep((error.retryAfter || 1) * 1000, options?.signal);
    }
  }
}

export function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("no longer wanted", "AbortError"));
    });
  });
}

// newKey makes an idempotency key.
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

// Once makes idempotency keys: a request that is repeated because no answer came has
// the same key and takes effect once.
export class Once {
  // kept is one that was stored, to go on with its key.
  constructor(kept = {}) {
    Object.assign(this, kept);
  }

  // headers are those of a request with this body.
  headers(body) {
    const text = JSON.stringify(body);
    if (text !== this.text) {
      this.text = text;
      this.key = newKey();
    }
    return { "Idempotency-Key": this.key };
  }

  // answered makes the next request a new one, whatever its body.
  answered() {
    this.text = null;
  }
}

// download saves the response of a path as a file.
export async function download(path, name) {
  const blob = await (await call("GET", path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
