/**
 * When may memory be reused that threads could still be looking at? After every attached thread has passed a quiescent
 * point since: a moment, such as the turn of its event loop, at which it is inside no operation on the arena. One word
 * per thread: the epoch that it has seen, doubled, plus 1; 0 when it is not attached (or parked), and then it is inside no
 * operation either.
 */
import type { ArenaAtomics } from './arena-atomics.js';

export interface Quiescence {
  /** Opens a new epoch. */
  request(): number;
  /** Whether every attached thread has passed a quiescent point since `epoch` was opened. */
  passed(epoch: number): boolean;
}

/** Arena bytes for `threads` thread places. */
export const quiescenceBytes = (threads: number): number => 64 + threads * 4;

const FIRST_THREAD = 16;

export class QuiescenceWords implements Quiescence {
  readonly #atomics: ArenaAtomics;
  readonly #words: Int32Array;
  readonly #threads: number;

  /** `base`: a multiple of 64. Word 0 is the epoch, the threads' words begin at byte 64. */
  constructor(
    buffer: SharedArrayBuffer,
    base: number,
    threads: number,
    atomics: ArenaAtomics = Atomics,
  ) {
    this.#atomics = atomics;
    this.#words = new Int32Array(buffer, base, FIRST_THREAD + threads);
    this.#threads = threads;
  }

  request(): number {
    return this.#atomics.add(this.#words, 0, 1) + 1;
  }

  passed(epoch: number): boolean {
    for (let thread = 0; thread < this.#threads; thread++) {
      const seen = this.#atomics.load(this.#words, FIRST_THREAD + thread);
      // The sign of the difference of 31-bit numbers, because epochs wrap.
      if (seen !== 0 && ((seen >>> 1) - epoch) << 1 < 0) return false;
    }
    return true;
  }

  /** Called by `thread` when it is inside no operation; the first call attaches it. */
  pass(thread: number): void {
    const epoch = this.#atomics.load(this.#words, 0);
    this.#atomics.store(this.#words, FIRST_THREAD + thread, (epoch << 1) | 1);
  }

  /** Called by `thread`, or for it when it has died. */
  leave(thread: number): void {
    this.#atomics.store(this.#words, FIRST_THREAD + thread, 0);
  }
}
