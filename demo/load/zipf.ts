/** Shares of `count` ranks under Zipf's law, rank 1 first; they sum to 1. */
export function zipfShares(count: number, exponent = 1): number[] {
  const weights = Array.from({ length: count }, (_, rank) => 1 / (rank + 1) ** exponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Running sums of `rates`; the last one is their total. */
export function cumulate(rates: readonly number[]): number[] {
  let total = 0;
  return rates.map((rate) => {
    total += rate;
    return total;
  });
}

/** The index whose stretch of the running sums holds `point` in [0, total). */
export function pickIndex(cumulative: readonly number[], point: number): number {
  let low = 0;
  let high = cumulative.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (point < (cumulative[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}
