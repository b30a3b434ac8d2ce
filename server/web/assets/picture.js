// @ts-check
// A picture of the map, as a file: what is seen, its title and its legend.

import { classColour, mostColours } from "./classes.js";
import { rampStops } from "./colour.js";
import { beyondOf, endsOf, nameOf } from "./legend.js";

const margin = 16, band = 84; // pixels; the band below the map has the legend

// pictureOf returns a PNG of layers, canvases of the same size, in CSS pixels.
export function pictureOf(layers, { width, height, title, by, data, unit, attribution = "", paper, ink, soft }) {
  const dense = window.devicePixelRatio || 1;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * dense), Math.round((height + band) * dense)];
  const pen = canvas.getContext("2d");
  pen.scale(dense, dense);
  pen.fillStyle = paper;
  pen.fillRect(0, 0, width, height + band);
  for (const layer of layers) pen.drawImage(layer, 0, 0, width, height);
  pen.textBaseline = "alphabetic";
  const write = (text, x, y, { size = 13, colour = ink, bold = false } = {}) => {
    pen.font = `${bold ? "bold " : ""}${size}px system-ui, sans-serif`;
    pen.textAlign = "left";
    pen.fillStyle = colour;
    pen.fillText(text, x, y, width - 2 * margin);
  };
  write(title, margin, height + 20, { bold: true, size: 15 });
  if (attribution) {
    pen.font = "12px system-ui, sans-serif";
    write(attribution, Math.max(margin, width - margin - pen.measureText(attribution).width), height + 20, { colour: soft, size: 12 });
  }
  const scale = data?.head.scales[by];
  if (by === "class") {
    write(nameOf(by, data.head, unit), margin, height + 40, { colour: soft });
    let at = margin;
    data.head.classes.slice(0, mostColours).forEach((name, k) => {
      pen.fillStyle = classColour(k);
      pen.fillRect(at, height + 49, 12, 12);
      write(name, at + 18, height + 60);
      at += 34 + pen.measureText(name).width;
    });
  } else if (scale) {
    const [low, high] = endsOf(scale, by);
    const from = margin + pen.measureText(low).width + 8, wide = Math.min(260, width / 3);
    const ramp = pen.createLinearGradient(from, 0, from + wide, 0);
    const stops = rampStops(by);
    stops.forEach((colour, k) => ramp.addColorStop(k / (stops.length - 1), colour));
    write(nameOf(by, data.head, unit), margin, height + 40, { colour: soft });
    write(low, margin, height + 59);
    pen.fillStyle = ramp;
    pen.fillRect(from, height + 48, wide, 14);
    write(high, from + wide + 8, height + 59);
    write(beyondOf(scale), margin, height + 77, { colour: soft, size: 12 });
  }
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture cannot be made"))), "image/png"));
}
