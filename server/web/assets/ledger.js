// @ts-check
// The ledger of the outbox: a small database in the browser that all tabs see alike.

const day = 86_400_000; // milliseconds that a record is kept

export class Ledger {
  constructor(name) {
    this.opened = new Promise((resolve) => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore("entries");
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(null); // some browsers keep none: requests have keys all the same
    });
    this.forgetOld();
  }

  // get returns the record of an entry, null if there is none.
  get(id) {
    return this.run("readonly", (entries) => entries.get(id));
  }

  set(id, record) {
    return this.run("readwrite", (entries) => entries.put({ ...record, at: Date.now() }, id));
  }

  async run(mode, work) {
    const database = await this.opened;
    if (!database) return null;
    return new Promise((resolve) => {
      const request = work(database.transaction("entries", mode).objectStore("entries"));
      request.onsuccess = () => resolve(request.result ?? null);
      request.onerror = () => resolve(null);
    });
  }

  async forgetOld() {
    const database = await this.opened;
    const request = database?.transaction("entries", "readwrite").objectStore("entries").openCursor();
    if (!request) return;
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor) return;
      if (Date.now() - cursor.value.at > day) cursor.delete();
      cursor.continue();
    };
  }
}
