// @ts-check
// Refresher does work again when it is out of date: never twice at once, and
// with rests, so that a flood of events is a trickle of work.

const longest = 2000; // milliseconds of rest

export class Refresher {
  // work is an async function of an AbortSignal; failed is told of its errors.
  constructor(work, failed, rest = 500) {
    this.work = work;
    this.failed = failed;
    this.rest = rest; // least milliseconds between two runs
    this.running = false;
    this.stale = false;
    this.end = new AbortController();
  }

  // refresh does the work now, or once more after what is running.
  refresh() {
    this.stale = true;
    if (!this.running) this.run();
  }

  async run() {
    this.running = true;
    while (this.stale && !this.end.signal.aborted) {
      this.stale = false;
      const began = performance.now();
      try {
        await this.work(this.end.signal);
      } catch (error) {
        if (this.end.signal.aborted) return;
        this.failed(error);
      }
      // As long a rest as the work took leaves the server to others; but what took long may have waited.
      await new Promise((resolve) => setTimeout(resolve, Math.max(this.rest, Math.min(longest, performance.now() - began))));
    }
    this.running = false;
  }

  close() {
    this.end.abort();
  }
}
