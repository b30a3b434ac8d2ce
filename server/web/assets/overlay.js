// @ts-check
// What lies over the map and has letters or few shapes: numbered pins, suggestions, the node that is
// chosen or pointed at, and the scale.

const earth = 111_195; // metres in a degree of latitude

// drawOverlay draws on a 2D context, in CSS pixels. Pins and suggestions have x, y of the plane.
export function drawOverlay(pen, camera, { pins, suggestions, chosen, hovered, geographic }, colours) {
  pen.clearRect(0, 0, camera.width, camera.height);
  pen.lineJoin = "round";
  for (const at of [hovered, chosen]) if (at) ring(pen, camera.screen(at.x, at.y), at === chosen, colours);
  for (const s of suggestions) question(pen, camera.screen(s.x, s.y), colours);
  for (const p of [...pins].reverse()) pin(pen, camera.screen(p.x, p.y), String(p.number), colours);
  if (geographic) scaleBar(pen, camera, colours);
}

function ring(pen, [x, y], strong, { ink, paper }) {
  const r = strong ? 13 : 9;
  for (const [width, colour] of [[strong ? 6 : 4, paper], [strong ? 3 : 2, ink]]) {
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.lineWidth = width;
    pen.strokeStyle = colour;
    pen.stroke();
  }
}

function question(pen, [x, y], { second, paper }) {
  pen.beginPath();
  pen.arc(x, y, 10, 0, 2 * Math.PI);
  pen.fillStyle = paper;
  pen.fill();
  pen.lineWidth = 3;
  pen.strokeStyle = second;
  pen.stroke();
  letters(pen, "?", x, y, second);
}

export const pinHeight = 34; // pixels from the node to the top of its pin

function pin(pen, [x, y], number, { accent, onAccent, paper }) {
  const r = 12, middle = y - pinHeight + r;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.arc(x, middle, r, Math.PI * 0.82, Math.PI * 0.18);
  pen.closePath();
  pen.lineWidth = 3;
  pen.strokeStyle = paper;
  pen.stroke();
  pen.fillStyle = accent;
  pen.fill();
  letters(pen, number, x, middle, onAccent);
}

function letters(pen, text, x, y, colour) {
  pen.font = `bold ${text.length > 2 ? 10 : 13}px system-ui, sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = colour;
  pen.fillText(text, x, y + 0.5);
}

// roundLength is the longest of 1, 2, 5, 10, 20 … metres that is at most so long, and its name.
export function roundLength(most) {
  if (!(most > 0) || !Number.isFinite(most)) return null;
  const power = 10 ** Math.floor(Math.log10(most));
  const metres = [5, 2, 1].map((m) => m * power).find((m) => m <= most * (1 + 1e-9)) ?? power;
  const name = metres >= 1000 ? `${Number((metres / 1000).toPrecision(3)).toLocaleString("en-GB")} km` : metres >= 1 ? `${metres} m` : `${Number((metres * 100).toPrecision(3))} cm`;
  return { metres, name };
}

function scaleBar(pen, camera, { ink, paper }) {
  const round = roundLength((120 / camera.zoom) * earth);
  if (!round) return;
  const length = (round.metres / earth) * camera.zoom;
  const x = 14 + camera.inset.left, y = camera.height - 14 - camera.inset.bottom;
  pen.font = "12px system-ui, sans-serif";
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  for (const [width, colour] of [[5, paper], [2, ink]]) {
    pen.lineWidth = width;
    pen.strokeStyle = colour;
    pen.beginPath();
    pen.moveTo(x, y - 5);
    pen.lineTo(x, y);
    pen.lineTo(x + length, y);
    pen.lineTo(x + length, y - 5);
    pen.stroke();
    pen.lineWidth = 4;
    if (colour === paper) pen.strokeText(round.name, x + 4, y - 6);
  }
  pen.fillStyle = ink;
  pen.fillText(round.name, x + 4, y - 6);
}
