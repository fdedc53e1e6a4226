/** Judges a history of grants by the bound of the token bucket: grants <= burst + qps * elapsed, over every window. */

export interface Granted {
  readonly atNs: number;
  readonly n: number;
}

/** Terms in force from `fromNs` on, the first from the beginning. A `fresh` bucket begins full, others keep their balance. */
export interface TermsSince {
  readonly fromNs: number;
  readonly qps: number;
  readonly burst: number;
  readonly fresh?: boolean;
}

/** Permits beyond the bound in the worst window, 0 or less where it holds. In one pass over grants in order of time. */
export function worstExcess(grants: readonly Granted[], history: readonly TermsSince[]): number {
  const sorted = grants.toSorted((a, b) => a.atNs - b.atNs);
  let before = 0;
  let worst = Number.NEGATIVE_INFINITY;
  // Of all windows that begin at an earlier grant: what was granted before, less what had come in by then, less the burst.
  let least = Number.POSITIVE_INFINITY;
  for (const { atNs, n } of sorted) {
    least = Math.min(least, before - comeIn(history, atNs, 'until') + burstAt(history, atNs));
    before += n;
    worst = Math.max(worst, before - comeIn(history, atNs, 'with') - least);
  }
  return worst;
}

/** Permits that have come in by `atNs`: by the rates, and by fresh buckets, those of `atNs` itself included or not. */
function comeIn(history: readonly TermsSince[], atNs: number, resets: 'until' | 'with'): number {
  let sum = 0;
  for (const [i, { fromNs, qps, burst, fresh }] of history.entries()) {
    if (fromNs > atNs) break;
    const untilNs = Math.min(history[i + 1]?.fromNs ?? Number.POSITIVE_INFINITY, atNs);
    sum += (qps * (untilNs - fromNs)) / 1e9;
    if (i > 0 && fresh === true && (fromNs < atNs || resets === 'with')) sum += burst;
  }
  return sum;
}

/** The largest burst in force at `atNs`: at the moment of a change both are. */
function burstAt(history: readonly TermsSince[], atNs: number): number {
  let most = 0;
  for (const [i, { fromNs, burst }] of history.entries()) {
    const untilNs = history[i + 1]?.fromNs ?? Number.POSITIVE_INFINITY;
    if (fromNs <= atNs && untilNs >= atNs) most = Math.max(most, burst);
  }
  return most;
}
