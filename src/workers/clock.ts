/**
 * Monotonic time of the runtime in ns since its epoch, the same in every thread. `performance.now()` counts from the start
 * of its own thread, so each thread measures its offset to `hrtime` once. The offset is the largest of the lower bounds
 * seen: a thread's clock may lag by the length of one reading, it never runs ahead, so no bound is exceeded by it.
 */
import { performance } from 'node:perf_hooks';

export interface Clock {
  /** ns since the epoch of the runtime; never goes back. */
  nowNs(): number;
}

/** The epoch of a new runtime: `hrtime` in ns. */
export function clockEpoch(): bigint {
  return process.hrtime.bigint();
}

const READINGS = 16;

export function createClock(epoch: bigint): Clock {
  let offsetNs = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < READINGS; i++) {
    const before = Number(process.hrtime.bigint() - epoch);
    offsetNs = Math.max(offsetNs, before - performance.now() * 1e6);
  }
  return { nowNs: () => performance.now() * 1e6 + offsetNs };
}
