// @ts-check
// Colours that the colour-blind can tell apart: they grow evenly lighter.

const ramps = {
  // Low is dark, high is bright: the map of the report.
  mean: ["442a74", "414487", "34608d", "2a788e", "21918c", "28ae80", "5ec962", "addc30", "f5e026"],
  // Little is known where it is bright.
  sd: ["3a447c", "55418c", "753f91", "983f8b", "ba487c", "d95a68", "ee7853", "f99f4c", "fdd174"],
  // Certainly not, perhaps, certainly: dark, grey, bright.
  chance: ["1f3d6e", "3d5378", "5b6a80", "7d8086", "99968a", "b5ab85", "cfbf7c", "e6d36b", "f8e754"],
};

const steps = 256;

// ramp is a colour scale as steps of RGBA bytes.
export function ramp(name) {
  const stops = ramps[name].map((hex) => [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16)));
  const bytes = new Uint8Array(4 * steps);
  for (let k = 0; k < steps; k++) {
    const t = (k / (steps - 1)) * (stops.length - 1);
    const i = Math.min(Math.floor(t), stops.length - 2);
    for (let c = 0; c < 3; c++) bytes[4 * k + c] = Math.round(stops[i][c] + (t - i) * (stops[i + 1][c] - stops[i][c]));
    bytes[4 * k + 3] = 255;
  }
  return bytes;
}

// rampStops are the colours of a scale in CSS, from low to high.
export function rampStops(name) {
  return ramps[name].map((hex) => `#${hex}`);
}

// dark tells whether the reader prefers a dark page.
export const dark = /** @type {MediaQueryList} */ (globalThis.matchMedia?.("(prefers-color-scheme: dark)") ?? new EventTarget());
