// @ts-check
// Beside the page: it keeps the files of the page and the last answers of the server, and gives
// them when the server cannot be reached. The server puts the version of the page and the list
// of its files before this text.
//
// The network comes first, but for files whose address has the version. Answers are kept by
// their address alone: the token, which is in the head of a request, is never stored.

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const page = `grfgp-page-${version}`;
const data = "grfgp-data";
const mostKept = 300; // answers
const tiles = "grfgp-tiles"; // of the background map
const mostTiles = 600;
const tile = /^v1\/basemap\/\d+\/\d+\/\d+$/;
const patience = 5000; // milliseconds to wait for the page itself
const root = new URL("./", worker.location.href);
const kept = /^v1\/(meta|graphs\/[^/]+\/(places|edges)|studies(\/[^/]+(\/(trials|observations|map|nodes|candidates|predictions|history|calibration|queue|events)(\/\d+)?)?)?)$/;

worker.addEventListener("install", (event) => event.waitUntil(install()));

async function install() {
  const cache = await caches.open(page);
  await cache.addAll(files);
  const index = await cache.match(root.href);
  if (index.headers.get("Grfgp-Page") !== version) throw new Error("the server was upgraded meanwhile");
  await worker.skipWaiting();
}

worker.addEventListener("activate", (event) => event.waitUntil(activate()));

async function activate() {
  const old = (await caches.keys()).filter((name) => name.startsWith("grfgp-page-") && name !== page);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== root.origin || !url.pathname.startsWith(root.pathname)) return;
  const path = url.pathname.slice(root.pathname.length);
  if (request.mode === "navigate") {
    if (path === "") event.respondWith(openPage(request));
  } else if (path.startsWith(`assets/${version}/`)) {
    event.respondWith(asset(event, url.href));
  } else if (tile.test(path)) {
    event.respondWith(answer(event, url, tiles, mostTiles));
  } else if (kept.test(path) && !streams(request) && url.searchParams.get("format") !== "csv") {
    event.respondWith(answer(event, url, data, mostKept));
  }
});

function streams(request) {
  return (request.headers.get("Accept") ?? "").includes("text/event-stream");
}

async function openPage(request) {
  const old = await caches.match(root.href, { cacheName: page });
  if (!old) return fetch(request);
  const late = new Promise((resolve) => setTimeout(() => resolve(old), patience));
  return Promise.race([fetch(request).catch(() => old), late]);
}

// asset gives a file of the page. Those that few people need are kept when they are first used.
async function asset(event, address) {
  const file = await caches.match(address, { cacheName: page });
  if (file) return file;
  const response = await fetch(event.request);
  if (response.status === 200) {
    const copy = response.clone();
    event.waitUntil(caches.open(page).then((cache) => cache.put(address, copy)));
  }
  return response;
}

async function answer(event, url, cacheName, most) {
  const place = url.origin + url.pathname + url.search;
  try {
    const response = await fetch(event.request);
    if (response.status === 200) event.waitUntil(keep(place, response.clone(), cacheName, most));
    // A token that the server no longer knows: what was read with it goes, too.
    if (response.status === 401 && event.request.headers.has("Authorization")) event.waitUntil(Promise.all([data, tiles].map((name) => caches.delete(name))));
    return response;
  } catch (error) {
    const last = await caches.match(place, { cacheName });
    if (!last || error.name === "AbortError") throw error;
    return last;
  }
}

async function keep(place, response, cacheName, most) {
  const headers = new Headers(response.headers);
  headers.delete("Content-Encoding"); // the body is unpacked
  headers.delete("Content-Length");
  headers.set("Grfgp-Kept", new Date().toISOString());
  const cache = await caches.open(cacheName);
  await cache.put(place, new Response(await response.arrayBuffer(), { status: 200, headers }));
  const all = await cache.keys();
  await Promise.all(all.slice(0, Math.max(0, all.length - most)).map((request) => cache.delete(request)));
}
