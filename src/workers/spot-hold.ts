/**
 * Permits of a host bucket that were there on the spot, for a call that has not started yet. How to undo the taking is
 * kept in halves of words: big integers would cost more than the taking itself, and hardly any is undone.
 */
import type { Hold } from './hold.js';
import type { QueuedBucket } from './queued-bucket.js';
import type { ThreadContext } from './thread-context.js';

export class SpotHold implements Hold {
  readonly waitedNs = 0;
  readonly #thread: ThreadContext;
  readonly #limiter: QueuedBucket;
  readonly #n: number;
  readonly #beginLow: number;
  readonly #beginHigh: number;
  readonly #endLow: number;
  readonly #endHigh: number;

  /** The kernel has just left in the thread's scratch words how to undo it. */
  constructor(thread: ThreadContext, limiter: QueuedBucket, n: number) {
    const { i32 } = thread.arena;
    const at = thread.scratch >>> 2;
    this.#thread = thread;
    this.#limiter = limiter;
    this.#n = n;
    this.#beginLow = i32[at] as number;
    this.#beginHigh = i32[at + 1] as number;
    this.#endLow = i32[at + 2] as number;
    this.#endHigh = i32[at + 3] as number;
  }

  spend(): void {
    this.#limiter.spendTokens(this.#n);
  }

  cancel(): void {
    const { i32 } = this.#thread.arena;
    const at = this.#thread.scratch >>> 2;
    i32[at] = this.#beginLow;
    i32[at + 1] = this.#beginHigh;
    i32[at + 2] = this.#endLow;
    i32[at + 3] = this.#endHigh;
    this.#limiter.giveBackScratch(this.#thread.nowNs(), this.#n);
  }
}
