/** Nearest-rank percentile of unsorted values; 0 of none. */
export function percentile(values: readonly number[], part: number): number {
  if (values.length === 0) return 0;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;
}

export function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
