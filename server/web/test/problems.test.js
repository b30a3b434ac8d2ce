import assert from "node:assert/strict";
import { test } from "node:test";

import { wordsOfProblem } from "../assets/problems.js";

test("problems are told once, in sentences", () => {
  for (const [problem, title, text] of [
    [{ kind: "loading", title: "Not ready yet", detail: "not ready yet: the graph is being loaded; try again soon" }, "Not ready yet", "The network is being loaded; try again soon."],
    [{ kind: "invalid", title: "The request is not valid", detail: "not valid: budget -1; give a finite number ≥ 0" }, "Please check what you entered", "Budget -1; give a finite number ≥ 0."],
    [{ kind: "too-large", title: "The request is too large", detail: "the body exceeds the limit of this server, which counts decompressed bytes; /v1/meta reports the limits" }, "This is too large for the server", "The file exceeds the limit of this server, which counts decompressed bytes."],
    [{ kind: "malformed", title: "The request cannot be read", detail: "not JSON: …, at byte 3" }, "The server did not understand this page", "It may be older than the server: reload it, and try again."],
    [{ title: "A number is missing" }, "A number is missing", ""],
  ]) assert.deepEqual(wordsOfProblem(problem), { title, text });
});

test("what is waited for is told without advice to try again", async () => {
  const { waitWords } = await import("../assets/problems.js");
  assert.equal(waitWords({ kind: "loading", title: "Not ready yet", detail: "not ready yet: suggestions are being computed; try again soon" }), "Suggestions are being computed …");
  assert.equal(waitWords({ kind: "loading", title: "Not ready yet" }), "The server is working …");
});
