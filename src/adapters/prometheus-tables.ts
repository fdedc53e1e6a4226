import type { LimitSnapshot, RuntimeSnapshot } from '../workers/snapshot.js';

export interface ShownLimits {
  readonly shown: readonly LimitSnapshot[];
  readonly rest: readonly LimitSnapshot[];
}

/**
 * Which throttled pairs get series of their own: the first `max` by RPC type and table, so that a scrape shows the same ones
 * as the last.
 */
export function shownLimits({ limits }: RuntimeSnapshot, max: number): ShownLimits {
  if (limits.length <= max) return { shown: limits, rest: [] };
  const sorted = limits.toSorted((a, b) => compare(a.rpc, b.rpc) || compare(a.table, b.table));
  return { shown: sorted.slice(0, max), rest: sorted.slice(max) };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
