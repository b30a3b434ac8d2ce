import assert from "node:assert/strict";
import test from "node:test";

import { Camera } from "../assets/camera.js";

function cameraOf(bounds = [0, 0, 10, 10], width = 500, height = 400) {
  const camera = new Camera();
  camera.resize(width, height);
  camera.fit(bounds);
  return camera;
}

test("the whole map is seen, in the middle", () => {
  const camera = cameraOf();
  assert.deepEqual([camera.x, camera.y], [5, 5]);
  assert.equal(camera.zoom, (400 * 0.92) / 10);
  assert.equal(camera.zoomed(), false);
});

test("what covers the screen does not cover the map", () => {
  const camera = cameraOf();
  camera.inset = { top: 0, right: 0, bottom: 200, left: 0 };
  camera.fit();
  const [, top] = camera.screen(5, 10), [, bottom] = camera.screen(5, 0);
  assert.ok(top > 0 && bottom < 200, `${top} to ${bottom}`);
});

test("zooming keeps the place under the pointer", () => {
  const camera = cameraOf();
  const before = camera.place(310, 250);
  camera.scale(3, 310, 250);
  const after = camera.place(310, 250);
  for (const k of [0, 1]) assert.ok(Math.abs(before[k] - after[k]) < 1e-9);
});

test("the map cannot be lost, however far one swipes or zooms", () => {
  const camera = cameraOf();
  for (const [dx, dy] of [[1e6, 0], [0, 1e6], [-1e6, -1e6]]) {
    camera.move(dx, dy);
    assert.ok(camera.x >= 0 && camera.x <= 10 && camera.y >= 0 && camera.y <= 10, `${camera.x}, ${camera.y}`);
  }
  for (let k = 0; k < 100; k++) camera.scale(0.5);
  assert.ok(camera.times() >= 0.7 - 1e-9);
  for (let k = 0; k < 100; k++) camera.scale(2);
  assert.ok(camera.times() <= 5000 + 1e-6);
});

test("an address holds what is seen", () => {
  const camera = cameraOf([-122.1, 37.1, -121.7, 37.5]);
  assert.equal(camera.text(), "");
  camera.look(-121.9539, 37.2582, 40);
  const other = cameraOf([-122.1, 37.1, -121.7, 37.5], 390, 844);
  assert.ok(other.read(camera.text()));
  assert.ok(Math.abs(other.x - camera.x) < 0.1 / camera.zoom && Math.abs(other.y - camera.y) < 0.1 / camera.zoom);
  assert.equal(other.times().toFixed(3), "40.000");
  for (const wrong of ["", "1,2", "1,2,3,4", "a,b,c", "1,,2", "1,2,Infinity"]) assert.equal(other.read(wrong), false, wrong);
});

test("one node alone, or nodes in a line, are seen", () => {
  for (const bounds of [[3, 4, 3, 4], [0, 2, 10, 2]]) {
    const camera = cameraOf(bounds);
    assert.ok(Number.isFinite(camera.zoom) && camera.zoom > 0);
    assert.deepEqual(camera.screen((bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2), [250, 200]);
  }
});
