// The server's API: one call at a time, problems as errors.

import { askToken, token } from "./token.js";

// Problem is an answer that says no, or none at all.
class Problem extends Error {
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

// call sends a request and returns the response if it is a good one. A body that
// is no file, form or text goes as JSON. Where a token is wanted, the reader is
// asked for it and the call made again.
export async function call(method, path, { body, headers = {}, signal } = {}) {
  for (let refused = false; ; refused = true) {
    const response = await send(method, path, body, headers, signal);
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (problem.status !== 401) throw problem;
    await askToken(refused ? "The server does not know that token." : "");
  }
}

async function send(method, path, body, headers, signal) {
  const head = new Headers(headers);
  if (token()) head.set("Authorization", `Bearer ${token()}`);
  const raw = body === undefined || body instanceof Blob || body instanceof FormData || typeof body === "string";
  if (!raw) head.set("Content-Type", "application/json");
  try {
    return await fetch(path, { method, headers: head, signal, body: raw ? body : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ type: "unreachable", title: "The server cannot be reached", detail: "Is it running? What you entered is still here; try again." });
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

// patiently calls until the server has loaded and learned what it needs; onWait
// is told of every wait.
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

// Once gives requests their keys: the same request, sent again because no answer
// came, has the same key and takes effect once.
export class Once {
  // headers are those of a request with this body.
  headers(body) {
    const text = JSON.stringify(body);
    if (text !== this.text) {
      this.text = text;
      this.key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    }
    return { "Idempotency-Key": this.key };
  }

  // answered makes the next request a new one, whatever its body.
  answered() {
    this.text = null;
  }
}

// download hands the reader what is at an address, as a file.
export async function download(path, name) {
  const blob = await (await call("GET", path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
