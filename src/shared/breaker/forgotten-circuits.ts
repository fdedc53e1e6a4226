/**
 * What is left of circuits that were open once and are forgotten: the epoch before which their calls are late, by some
 * bits of the address' hash. When such an address gets a cell again, calls of an earlier epoch are late there too, however long they
 * took. An address that shares its bits has calls that were admitted before that epoch taken for late as well: they count
 * for nothing, so a circuit may open one failure later, never too early.
 */
import type { ArenaAtomics } from '../arena-atomics.js';
import { isEarlierEpoch } from './circuit-state.js';

const WORDS_PER_CELL = 4;

/** A power of two. */
const wordsFor = (cells: number): number =>
  2 ** Math.ceil(Math.log2(Math.max(cells * WORDS_PER_CELL, 1024)));

/** Arena bytes beside a directory of `cells` cells. All zero: nothing was forgotten. */
export const forgottenCircuitsBytes = (cells: number): number => wordsFor(cells) * 4;

export class ForgottenCircuits {
  readonly #atomics: ArenaAtomics;
  readonly #words: Int32Array;

  /** `base`: byte offset of `forgottenCircuitsBytes(cells)` bytes, a multiple of 4. */
  constructor(
    buffer: SharedArrayBuffer,
    base: number,
    cells: number,
    atomics: ArenaAtomics = Atomics,
  ) {
    this.#atomics = atomics;
    this.#words = new Int32Array(buffer, base, wordsFor(cells));
  }

  /** `salt`: of the address' cell, now or then. */
  epochOf(salt: number): number | undefined {
    const epoch = this.#atomics.load(this.#words, this.#at(salt));
    return epoch === 0 ? undefined : epoch;
  }

  /** Control thread, before the cell can no longer be found. */
  note(salt: number, epoch: number): void {
    const at = this.#at(salt);
    const noted = this.#atomics.load(this.#words, at);
    if (noted !== 0 && isEarlierEpoch(epoch, noted)) return;
    // 0 stands for none. One epoch more does no harm.
    this.#atomics.store(this.#words, at, epoch === 0 ? 1 : epoch);
  }

  /** Control thread: forgets what was before `epoch`. */
  age(epoch: number): void {
    for (let at = 0; at < this.#words.length; at++) {
      const noted = this.#atomics.load(this.#words, at);
      if (noted !== 0 && isEarlierEpoch(noted, epoch)) this.#atomics.store(this.#words, at, 0);
    }
  }

  #at(salt: number): number {
    return salt & (this.#words.length - 1);
  }
}
