import assert from "node:assert/strict";
import { test } from "node:test";
import { Outbox, tabLock } from "../assets/outbox.js";

class Store extends Map {
  getItem(name) { return this.get(name) ?? null; }
  setItem(name, text) { this.set(name, text); }
  removeItem(name) { this.delete(name); }
  names() { return [...this.keys()]; }
}

class Ledger extends Map {
  async get(id) { await pause(0); return super.get(id) ?? null; }
  async set(id, record) { await pause(0); super.set(id, record); }
}

let keys = 0;
const alone = () => {
  let last = Promise.resolve();
  return (work) => { const mine = last.then(work); last = mine.catch(() => {}); return mine; };
};
const made = (fields = {}) => new Outbox({ store: new Store(), place: "o", ledger: new Ledger(), send: async () => ({}), lock: alone(), newKey: () => `k${++keys}`, ...fields });
const unreachable = { kind: "unreachable", title: "gone" };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

test("what is added is sent in order, each once, with its key", async () => {
  const sent = [];
  const box = made({ send: async (e) => { sent.push([e.trial, e.id]); await pause(1); return { trial: e.trial }; } });
  const entries = [1, 2, 3].map((trial) => box.add({ study: "s", what: "result", trial }));
  await box.flush();
  assert.deepEqual(sent, entries.map((e) => [e.trial, e.id]));
  assert.equal(new Set(entries.map((e) => e.id)).size, 3);
  assert.deepEqual(box.list().map((e) => [e.state, e.answer.trial]), [["sent", 1], ["sent", 2], ["sent", 3]]);
});

test("without a network everything waits, also for another page", async () => {
  const store = new Store();
  let up = false;
  const send = async () => { if (!up) throw unreachable; return {}; };
  const box = made({ store, send });
  box.add({ study: "s", what: "result", trial: 1, body: { value: 41.5 }, texts: { value: "41,5" } });
  box.add({ study: "s", what: "result", trial: 2 });
  await box.flush();
  assert.equal(box.waiting().length, 2);
  const later = made({ store, send }); // the page was loaded again
  assert.equal(later.waiting()[0].texts.value, "41,5");
  up = true;
  await later.flush();
  assert.equal(box.waiting().length, 0);
});

test("a refusal stays with its reason, and holds up nothing; what is busy is tried again", async () => {
  let busy = true;
  const box = made({ send: async ({ trial }) => {
    if (trial === 1) throw { kind: "conflict", status: 409, title: "Conflict", detail: "has the value 35.5" };
    if (trial === 2 && busy) throw { kind: "loading", status: 503, title: "Loading" };
    return {};
  } });
  for (const trial of [1, 2, 3]) box.add({ study: "s", what: "result", trial });
  await box.flush();
  assert.deepEqual(box.list().map((e) => e.state), ["refused", "waiting", "sent"]);
  assert.equal(box.list()[0].problem.detail, "has the value 35.5");
  busy = false;
  await box.flush();
  assert.deepEqual(box.list().map((e) => e.state), ["refused", "sent", "sent"]);
});

test("what waits is taken back, what is on its way is not", async () => {
  const answers = [];
  const asked = async (n) => { while (answers.length < n) await pause(1); answers[n - 1]({}); };
  const box = made({ send: () => new Promise((resolve) => { answers.push(resolve); }) });
  const first = box.add({ study: "s", what: "result", trial: 1 });
  const second = box.add({ study: "s", what: "result", trial: 2 });
  const back = pause(5).then(() => box.takeBack(first.id));
  await pause(10);
  await asked(1);
  await asked(2);
  assert.equal(await back, false);
  assert.equal(box.list()[0].state, "sent");
  const third = made({ send: async () => { throw unreachable; } });
  const waits = third.add({ study: "s", what: "result", trial: 3 });
  await third.flush();
  assert.equal(await third.takeBack(waits.id), true);
  assert.equal(third.list().length, 0);
  assert.ok(second);
});

test("what was sent is known for a while", async () => {
  let time = 0;
  const box = made({ now: () => time });
  box.add({ study: "s", what: "result", trial: 1 });
  await box.flush();
  time = 50_000_000;
  box.add({ study: "s", what: "result", trial: 2 });
  await box.flush();
  assert.equal(box.list().length, 2);
  time = 100_000_000;
  box.add({ study: "s", what: "result", trial: 3 });
  await box.flush();
  assert.deepEqual(box.list().map((e) => e.trial), [2, 3]);
});

test("a storage that is full or broken loses nothing while the page is open", async () => {
  const store = new Store();
  store.setItem = () => { throw new Error("full"); };
  const sent = [];
  const box = made({ store, send: async (e) => sent.push(e.trial) });
  box.add({ study: "s", what: "result", trial: 1 });
  await box.flush();
  assert.deepEqual(sent, [1]);
  const broken = new Store([["o:1", "{"], ["o:2", "null"], ["other", "{}"]]);
  assert.deepEqual(made({ store: broken }).list(), []);
});

test("two tabs of one browser send once, with locks and without", async () => {
  const store = new Store();
  const sleep = (ms) => pause(ms / 20);
  const sent = [];
  const ledger = new Ledger();
  const tab = (name) => made({ store, ledger, send: async (e) => { sent.push(e.trial); await pause(5); return {}; }, lock: tabLock(store, "lock", { name, sleep }) });
  const [a, b] = [tab("a"), tab("b")];
  for (let trial = 1; trial <= 4; trial++) (trial % 2 ? a : b).add({ study: "s", what: "result", trial });
  await Promise.all([a.flush(), b.flush()]);
  assert.deepEqual(sent.toSorted(), [1, 2, 3, 4]);
  assert.equal(store.getItem("lock"), null);
});

test("a tab that has not seen yet what another sent, or took back, sends it not again", async () => {
  const [one, two] = [new Store(), new Store()];
  const ledger = new Ledger();
  let up = false;
  const sent = [];
  const tab = (store) => made({ store, ledger, send: async (e) => { if (!up) throw unreachable; sent.push(e.trial); return { late: true }; } });
  const [a, b] = [tab(one), tab(two)];
  a.add({ study: "s", what: "result", trial: 1 });
  const back = a.add({ study: "s", what: "result", trial: 2 });
  await a.flush();
  for (const [name, text] of one) two.setItem(name, text);
  assert.equal(await a.takeBack(back.id), true);
  up = true;
  await a.flush();
  await b.flush();
  assert.deepEqual(sent, [1]);
  assert.deepEqual(b.list().map((e) => [e.trial, e.state, e.answer.late]), [[1, "sent", true]]);
});

test("a tab that was closed does not hold the lock for ever", async () => {
  const store = new Store([["lock", JSON.stringify({ name: "gone", until: 5 })]]);
  const lock = tabLock(store, "lock", { name: "a", now: () => 10, sleep: () => pause(1) });
  assert.equal(await lock(async () => "done"), "done");
});
