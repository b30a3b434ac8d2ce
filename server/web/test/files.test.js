import assert from "node:assert/strict";
import { test } from "node:test";

import { assign, firstLineOf, nameFault, nameFor, partOf } from "../assets/files.js";

test("files are told apart by their names and columns", () => {
  for (const [name, line, want] of [
    ["roads.csv", "from,to,length_m", "edges"],
    ["speeds.csv", "detector,speed", "measurements"],
    ["speeds-of-roads.csv", "source;target", "edges"],
    ["data1.csv", "u\tv\tw", "edges"],
    ["data2.csv", "id,lat,lon", "nodes"],
    ["data3.csv", "station,pm10", "measurements"],
    ["net.graphml.gz", "", "edges"],
    ["allowed.txt", "a", "allowed"],
    ["cost_per_node.csv", "node,cost", "costs"],
    ["data.bin", "", null],
  ]) assert.equal(partOf(name, line), want, name);
});

test("two files get two parts, whatever they are called", () => {
  const files = [{ name: "b.csv", firstLine: "7 8" }, { name: "a.csv", firstLine: "source,target" }];
  const chosen = assign(files);
  assert.equal(chosen.get("edges").name, "a.csv");
  assert.equal(chosen.get("measurements").name, "b.csv");
});

test("the first line is that of data, and none if it is compressed", async () => {
  assert.equal(await firstLineOf(new Blob(["# made by hand\n\nfrom,to\na,b\n"])), "from,to");
  assert.equal(await firstLineOf(new Blob([new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0])])), "");
});

test("a study is called as its file is", () => {
  assert.equal(nameFor("speeds.csv.gz", []), "speeds");
  assert.equal(nameFor("(my) speeds 2024.csv", []), "my-speeds-2024");
  assert.equal(nameFor("speeds.csv", ["speeds", "speeds-2"]), "speeds-3");
  assert.equal(nameFor("???.csv", []), "study");
});

test("a bad name is told at once", () => {
  for (const name of ["speeds", "Straßen_2.1-b"]) assert.equal(nameFault(name, []), "");
  assert.match(nameFault("", []), /Give the study a name/);
  assert.match(nameFault("my study", []), /blanks/);
  assert.match(nameFault("-a", []), /begins/);
  assert.match(nameFault("a/b", []), /“\/”/);
  assert.match(nameFault("ring", ["ring"]), /already/);
});
