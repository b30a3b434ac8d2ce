// @ts-check
// steer moves a camera by mouse, touch and keys.

const still = 5; // pixels that a click may move

// moved is called after the camera has moved, clicked with the point of a click and whether it was a key, hovered with that of
// a mouse that only points, null when it leaves.
export function steer(canvas, camera, { moved, clicked, hovered }) {
  const fingers = new Map(); // pointers that are down, by id
  let travelled = 0;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (fingers.size === 0) travelled = 0;
    fingers.set(event.pointerId, at(event));
    hovered(null);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    const now = at(event);
    if (!before) {
      if (event.pointerType === "mouse") hovered(now);
      return;
    }
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    if (other) {
      camera.scale(apart(now, other) / Math.max(1, apart(before, other)), (now.x + other.x) / 2, (now.y + other.y) / 2);
      camera.move((now.x - before.x) / 2, (now.y - before.y) / 2);
    } else if (travelled > still) {
      camera.move(now.x - before.x, now.y - before.y);
    }
    fingers.set(event.pointerId, now);
    moved();
  });
  canvas.addEventListener("pointerup", (event) => {
    const { x, y } = at(event);
    if (fingers.size === 1 && travelled <= still) clicked(x, y);
    fingers.delete(event.pointerId);
  });
  canvas.addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => hovered(null));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { x, y } = at(event);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    camera.scale(Math.exp(-event.deltaY * lines * 0.0015), x, y);
    moved();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 60;
    const keys = {
      ArrowLeft: () => camera.move(step, 0),
      ArrowRight: () => camera.move(-step, 0),
      ArrowUp: () => camera.move(0, step),
      ArrowDown: () => camera.move(0, -step),
      "+": () => camera.scale(1.4),
      "=": () => camera.scale(1.4),
      "-": () => camera.scale(1 / 1.4),
      0: () => camera.fit(),
      Enter: () => clicked(camera.width / 2, camera.height / 2, true),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
    moved();
  });
}

function apart(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
