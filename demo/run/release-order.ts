import type { LimitInForce, TimelineEntry } from './run-record.js';

/**
 * Levels are a stack: each one that goes must leave exactly the limits that stood before it came.
 * Gives what was not so. An entry whose level did not change is one level gone and another come
 * between two looks.
 */
export function findReleaseFaults(timeline: readonly TimelineEntry[]): string[] {
  const faults: string[] = [];
  /** Limits in force by level; index 0 is the state without any, undefined a level never seen. */
  const stack: (readonly LimitInForce[] | undefined)[] = [[]];
  for (const { atMs, level, limits } of timeline) {
    if (level >= stack.length) {
      while (stack.length < level) stack.push(undefined);
      stack.push(limits);
      continue;
    }
    const wasTop = level === stack.length - 1;
    stack.length = level + 1;
    const stood = stack[level];
    if (stood !== undefined && sameLimits(stood, limits)) continue;
    if (level > 0 && (wasTop || stood === undefined)) stack[level] = limits;
    else {
      faults.push(
        `at ${atMs} ms level ${level} came back with ${describe(limits)}, it stood at ${describe(stood ?? [])}`,
      );
    }
  }
  return faults;
}

function sameLimits(left: readonly LimitInForce[], right: readonly LimitInForce[]): boolean {
  return describe(left) === describe(right);
}

function describe(limits: readonly LimitInForce[]): string {
  const texts = limits.map(({ rpc, table, qpsLimit }) => `${rpc} ${table} ${qpsLimit.toFixed(3)}`);
  return texts.length === 0 ? 'no limits' : texts.sort().join(', ');
}
