// @ts-check
// Slips of the hand: a value that is far from what is expected, and what was probably meant.

// questionOf returns null for a value that needs no question, and else { low, high, likely }:
// the range that it is far from, and the number that was probably meant, as text, or null.
//
// range has lower999 and upper999, or mean and sd; lower and upper are the 95 % within. A value
// that is outside by little is no question: one in a thousand is right, and where the ranges
// are too narrow many are. With the other sign it may be.
export function questionOf(value, range) {
  const within = rangeOf(range);
  if (!within || !Number.isFinite(value)) return null;
  const { low, high } = within;
  if (value >= low && value <= high) return null;
  const likely = slipOf(value, within);
  const signOnly = likely !== null && Number(likely) === -value;
  return signOnly || far(value, low, high) ? { low, high, likely } : null;
}

// far reports whether a value is out by a quarter of the range, or three times too near to 0.
function far(value, low, high) {
  const out = value < low ? low - value : value - high;
  const small = (low > 0 && value >= 0 && value < low / 3) || (high < 0 && value <= 0 && value > high / 3);
  return small || out > (high - low) / 4;
}

// rangeOf returns the range of 99.9 % and that of 95 % within, null if nothing is expected.
function rangeOf(range) {
  const { lower999, upper999, lower, upper, mean, sd } = range ?? {};
  const known = Number.isFinite(mean) && sd > 0;
  const low = lower999 ?? (known ? mean - 3.29 * sd : undefined);
  const high = upper999 ?? (known ? mean + 3.29 * sd : undefined);
  if (!(high > low)) return null;
  const likelyLow = lower ?? (known ? mean - 1.96 * sd : low);
  const likelyHigh = upper ?? (known ? mean + 1.96 * sd : high);
  return { low, high, likelyLow, likelyHigh };
}

// slipOf returns the number that was probably meant: with the decimal sign elsewhere, or with
// the other sign; the one nearest to the middle of what is likely, null if none is likely.
function slipOf(value, { likelyLow, likelyHigh }) {
  const middle = (likelyLow + likelyHigh) / 2;
  let best = null;
  let least = Infinity;
  for (const sign of [1, -1]) {
    for (const shift of [0, -1, -2, -3, 1, 2, 3]) {
      const text = shifted(sign * value, shift);
      const candidate = Number(text);
      if (candidate === value || candidate < likelyLow || candidate > likelyHigh || (sign < 0 && candidate === 0)) continue;
      const off = Math.abs(candidate - middle) + (shift === 0 ? 0 : 1e-9); // of two that are as near, the sign alone
      if (off < least) [best, least] = [text, off];
    }
  }
  return best;
}

// shifted writes a number with its decimal sign so many places further right: all digits stay,
// so that 4150 becomes 41.50.
export function shifted(value, places) {
  const text = String(value);
  if (places === 0 || /e/i.test(text)) return String(value * 10 ** places);
  const sign = text.startsWith("-") ? "-" : "";
  const [whole, rest = ""] = text.replace("-", "").split(".");
  let digits = whole + rest;
  let point = whole.length + places;
  if (point <= 0) [digits, point] = ["0".repeat(1 - point) + digits, 1];
  if (point > digits.length) digits = digits.padEnd(point, "0");
  const left = digits.slice(0, point).replace(/^0+(?=\d)/, "");
  return sign + left + (point < digits.length ? `.${digits.slice(point)}` : "");
}
