/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Median, smallest and largest of those that are numbers.
 * @param {readonly number[]} all
 * @returns {{ median: number, min: number, max: number }}
 */
export function spread(all) {
  const values = all.filter((value) => !Number.isNaN(value));
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Of the same rounds: what slowed the machine in one round slowed both.
 * @param {readonly number[]} above
 * @param {readonly number[]} below
 */
export function pairedRatios(above, below) {
  return spread(above.map((value, round) => value / (below[round] ?? Number.NaN)));
}
