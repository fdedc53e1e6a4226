import type { ThrottleRecord } from '../../../../../workers/state/runtime-state.js';

export interface ThrottleStack {
  /** Upgrades in force that the history tells of, the newest first: each downgrade undoes the first of them. */
  readonly known: readonly ThrottleRecord[];
  /** Upgrades in force that are older than the history, or than its control thread. */
  readonly unknown: number;
}

/**
 * @param history oldest first, may begin anywhere.
 * @param level upgrades in force now.
 */
export function throttleStack(history: readonly ThrottleRecord[], level: number): ThrottleStack {
  const stack: ThrottleRecord[] = [];
  for (const record of history) {
    if (record.kind === 'upgrade') stack.push(record);
    else if (record.kind === 'downgrade') stack.pop();
    else stack.length = 0;
  }
  // The state may be older or newer than the last record by one update.
  const known = stack.slice(0, level).reverse();
  return { known, unknown: Math.max(0, level - known.length) };
}
