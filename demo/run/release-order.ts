import type { LimitInForce, TimelineEntry } from './run-record.js';

/**
 * Levels are a stack: each goes alone, the newest first, and leaves exactly the limits that stood
 * before it came. Gives what was not so.
 */
export function findReleaseFaults(timeline: readonly TimelineEntry[]): string[] {
  const faults: string[] = [];
  /** Limits in force by level; index 0 is the state without any. */
  const stack = ['no limits'];
  for (const { atMs, level, limits } of timeline) {
    const top = stack.length - 1;
    const now = describe(limits);
    if (level === top + 1) {
      stack.push(now);
      continue;
    }
    const at = `at ${atMs} ms level ${level} came`;
    if (level > top || level < top - 1) faults.push(`${at} after level ${top}`);
    const stood = stack[level];
    if (stood !== undefined && stood !== now) {
      faults.push(`${at} back with ${now}, it had stood with ${stood}`);
    }
    stack.length = Math.min(level, top);
    stack[level] = now;
  }
  return faults;
}

function describe(limits: readonly LimitInForce[]): string {
  const texts = limits.map(({ rpc, table, qpsLimit }) => `${rpc} ${table} ${qpsLimit.toFixed(3)}`);
  return texts.length === 0 ? 'no limits' : texts.sort().join(', ');
}
