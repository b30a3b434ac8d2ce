// @ts-check
// What chance alone does to a share: the binomial distribution.

// chance returns the range that holds the share of successes in n trials of probability p with at
// least 95 % probability, by the binomial distribution.
export function chance(p, n) {
  if (!(n > 0) || p <= 0 || p >= 1) return [p, p];
  let log = n * Math.log1p(-p); // of the probability of k successes
  let sum = 0;
  let low = -1;
  for (let k = 0; k <= n; k++) {
    if (k > 0) log += Math.log((n - k + 1) / k) + Math.log(p / (1 - p));
    sum += Math.exp(log);
    if (low < 0 && sum > 0.025) low = k;
    if (sum >= 0.975) return [Math.max(low, 0) / n, k / n];
  }
  return [Math.max(low, 0) / n, 1];
}
