// @ts-check
// Files on their way to the server, with progress. fetch cannot tell how much it has sent.

import { Problem } from "./api.js";
import { askToken, token } from "./token.js";

// upload sends a form and returns the answer. onProgress gets the bytes sent and their total;
// it is called with the total when the server has everything and works on it.
/**
 * @param {string} path
 * @param {FormData} form
 * @param {{ onProgress?: (sent: number, total: number) => void, signal?: AbortSignal }} options
 */
export async function upload(path, form, { onProgress = () => {}, signal } = {}) {
  for (let refused = false; ; refused = true) {
    const request = await send(path, form, onProgress, signal);
    if (request.status >= 200 && request.status < 300) return JSON.parse(request.responseText);
    const problem = problemOf(request);
    if (problem.status !== 401) throw problem;
    await askToken(refused ? "The server refused that token." : "");
  }
}

/** @returns {Promise<XMLHttpRequest>} */
function send(path, form, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stop = () => {
      request.abort();
      reject(new DOMException("no longer wanted", "AbortError"));
    };
    request.open("POST", `.${path}`);
    if (token()) request.setRequestHeader("Authorization", `Bearer ${token()}`);
    request.upload.onprogress = (event) => onProgress(event.loaded, event.total);
    request.upload.onload = (event) => onProgress(event.total, event.total);
    request.onload = () => resolve(request);
    request.onerror = () => reject(new Problem({ type: "unreachable", title: "The server cannot be reached", detail: "Check that it is running and try again. Your files are still chosen." }));
    if (signal?.aborted) stop();
    else {
      signal?.addEventListener("abort", stop, { once: true });
      request.send(form);
    }
  });
}

function problemOf(request) {
  const after = Number(request.getResponseHeader("Retry-After")) || 0;
  try {
    return new Problem(JSON.parse(request.responseText), after);
  } catch {
    return new Problem({ status: request.status, title: "The server did not understand the files" }, after);
  }
}
