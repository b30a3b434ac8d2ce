// @ts-check
// The outbox: what was entered and is not yet on the server. It is kept in the storage of the
// browser, which all its tabs share, and sent in order, by one tab at a time.

// An entry is { id, study, what, trial, node, body, texts, at, state }: what is to be done, with
// which body, and the texts as they were typed. state is "waiting", "sent" with answer and sentAt,
// or "refused" with problem. Its id is the idempotency key of the request.
//
// Each entry has a place of its own in the storage, so that no tab overwrites what another
// has added. What one tab writes there, others may see late; the ledger, which they all see at
// once, says what was sent or taken back.

const remembered = 86_400_000; // milliseconds that what was sent is known: a list that the browser kept may be older

export class Outbox {
  // store has getItem, setItem, removeItem and names, and place begins the names of entries
  // there. ledger has get and set. send sends an entry and returns the answer, or throws a
  // problem. lock runs work alone among all tabs. changed is told of changes.
  constructor({ store, place, ledger, send, lock, now = Date.now, newKey, changed = () => {} }) {
    this.store = store;
    this.place = place;
    this.ledger = ledger;
    this.send = send;
    this.lock = lock;
    this.now = now;
    this.newKey = newKey;
    this.changed = changed;
    this.unkept = new Map(); // entries by id that the storage does not take
    this.last = 0; // time of the last entry: no two have the same
    this.sending = null;
    this.more = false;
  }

  list() {
    const kept = this.store.names().filter((name) => name.startsWith(`${this.place}:`)).map((name) => parsed(this.store.getItem(name)));
    return [...kept, ...this.unkept.values()].filter((e) => e?.id).sort((a, b) => a.at - b.at);
  }

  // of are the entries of a study, or of one of its trials.
  of(study, trial) {
    return this.list().filter((e) => e.study === study && (trial === undefined || e.trial === trial));
  }

  write(entry) {
    this.unkept.delete(entry.id);
    try {
      this.store.setItem(`${this.place}:${entry.id}`, JSON.stringify(entry));
    } catch {
      this.unkept.set(entry.id, entry); // until the tab is closed, which is better than not at all
    }
    for (const old of this.list()) if (old.state === "sent" && this.now() - old.sentAt >= remembered) this.remove(old.id);
    this.changed();
  }

  remove(id) {
    this.unkept.delete(id);
    this.store.removeItem(`${this.place}:${id}`);
  }

  // add keeps an entry, and sends what waits.
  add(fields) {
    this.last = Math.max(this.last + 1, this.now());
    const entry = { ...fields, id: this.newKey(), at: this.last, state: "waiting" };
    this.write(entry);
    this.flush();
    return entry;
  }

  // drop forgets an entry that was sent or refused.
  drop(id) {
    this.remove(id);
    this.changed();
  }

  // takeBack removes an entry that waits, and reports whether it did: if it is being sent, the
  // answer is waited for, and what was sent is not taken back.
  takeBack(id) {
    return this.lock(async () => {
      const entry = this.list().find((e) => e.id === id);
      const known = await this.ledger.get(id);
      if (known?.state === "sent" || entry?.state !== "waiting") return false;
      await this.ledger.set(id, { state: "dropped" });
      this.drop(id);
      return true;
    });
  }

  waiting() {
    return this.list().filter((e) => e.state === "waiting");
  }

  // flush sends what waits, in order. It resolves when nothing waits, or when the server cannot
  // be reached.
  flush() {
    this.more = true;
    this.sending ??= this.run().finally(() => { this.sending = null; });
    return this.sending;
  }

  async run() {
    while (this.more) {
      this.more = false;
      await this.lock(() => this.sendAll());
    }
  }

  async sendAll() {
    const tried = new Set();
    for (;;) {
      const entry = this.waiting().find((e) => !tried.has(e.id)); // read again: others add and take back
      if (!entry) return;
      tried.add(entry.id);
      const known = await this.ledger.get(entry.id);
      if (known?.state === "dropped") this.drop(entry.id);
      else if (known) this.write({ ...entry, ...known });
      else if (!(await this.sendOne(entry))) return;
    }
  }

  // sendOne reports whether the server could be reached.
  async sendOne(entry) {
    try {
      const sent = { state: "sent", answer: await this.send(entry), sentAt: this.now() };
      await this.ledger.set(entry.id, sent);
      this.write({ ...entry, ...sent });
    } catch (problem) {
      if (problem.kind === "unreachable") return false;
      if (passes(problem)) return true;
      this.write({ ...entry, state: "refused", problem: { kind: problem.kind ?? "", title: problem.title ?? String(problem.message ?? problem), detail: problem.detail ?? "", status: problem.status ?? 0 } });
    }
    return true;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// passes reports whether a problem is one of the moment.
function passes({ status = 0, kind = "" }) {
  return status >= 500 || status === 429 || status === 408 || kind === "loading" || kind === "slowed";
}

// tabLock returns a function that runs work alone among all tabs that share a storage, where
// browsers have no locks: a tab writes its name, and the last to have written has the lock
// until it takes too long.
export function tabLock(store, place, { name, now = Date.now, sleep, hold = 30_000 }) {
  const holder = () => {
    try {
      return JSON.parse(store.getItem(place) ?? "null");
    } catch {
      return null;
    }
  };
  const take = () => store.setItem(place, JSON.stringify({ name, until: now() + hold }));
  const enter = async () => {
    for (;;) {
      const held = holder();
      if (held === null || held.until < now()) {
        take();
        await sleep(60);
        if (holder()?.name === name) return;
      }
      await sleep(150);
    }
  };
  let last = Promise.resolve();
  return (work) => {
    const mine = last.then(async () => {
      await enter();
      const renewing = setInterval(take, hold / 3);
      try {
        return await work();
      } finally {
        clearInterval(renewing);
        if (holder()?.name === name) store.removeItem(place);
      }
    });
    last = mine.catch(() => {});
    return mine;
  };
}
