import { RollingCount } from '../metrics/rolling-count.js';
import type { Decision } from './coordinator-actor.js';
import type { ThrottleReason } from './throttle-reason.js';

/** So finely the time over which BUSY answers are counted moves on. */
const BUCKETS = 30;

/** Remembers when and how often the downstream said BUSY, so that a decision can say what it was made of. */
export class BusyWitness {
  #recent: RollingCount;
  #overMs: number;
  #quietSinceMs = 0;

  /** `overMs`: the interval between upgrades, >= 0. */
  constructor(overMs: number) {
    this.#overMs = overMs;
    this.#recent = countOver(overMs);
  }

  /** From here on it listens. */
  begin(nowMs: number): void {
    this.#quietSinceMs = nowMs;
  }

  /** Counts begin anew when the interval is another. */
  configure(overMs: number): void {
    if (overMs === this.#overMs) return;
    this.#overMs = overMs;
    this.#recent = countOver(overMs);
  }

  hear(answers: number, nowMs: number): void {
    this.#recent.add(answers, nowMs);
    this.#quietSinceMs = nowMs;
  }

  reasonOf(decision: Decision, nowMs: number): ThrottleReason {
    if (decision === 'downgrade')
      return { kind: 'quiet', forMs: Math.max(0, nowMs - this.#quietSinceMs) };
    // One is why it was decided, also when a stall has moved it out of the window.
    const count = Math.max(1, this.#recent.total(nowMs));
    return { kind: 'busy', count, overMs: this.#overMs };
  }
}

function countOver(overMs: number): RollingCount {
  return new RollingCount({ windowMs: Math.max(1, overMs), buckets: BUCKETS });
}
