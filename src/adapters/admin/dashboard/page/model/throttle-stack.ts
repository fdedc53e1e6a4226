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
    // One that found nothing to slow is no level of its own.
    if (record.kind === 'upgrade' && record.changed === 0) continue;
    if (record.kind === 'upgrade') stack.push(record);
    else if (record.kind === 'downgrade') stack.pop();
    else stack.length = 0;
  }
  // With many levels the oldest are taken together: what is left over is part of the oldest one shown.
  const known = level === 0 ? [] : stack.slice(-level).reverse();
  return { known, unknown: Math.max(0, level - known.length) };
}
