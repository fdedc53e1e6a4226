/**
 * Which cells are taken. A cell's claim word decides (odd: taken), and it changes with every claim and release, so that
 * whoever sees the same odd value twice knows that it is the same claim. The bits are only a map to find free cells fast:
 * set after the claim and cleared before the release, so that a free cell's bit is always clear. A thread that dies after
 * its claim leaks that one cell; reclaim.ts finds it.
 */
import type { ArenaAtomics } from '../arena-atomics.js';
import { CELL_BYTES, CELL_FIELD } from './cell.js';
import type { DirectoryLayout } from './directory-layout.js';

const CLAIM = CELL_FIELD.CLAIM / 4;
const CELL_WORDS = CELL_BYTES / 4;

export class CellPool {
  readonly #atomics: ArenaAtomics;
  readonly #words: Int32Array;
  readonly #layout: DirectoryLayout;

  constructor(atomics: ArenaAtomics, words: Int32Array, layout: DirectoryLayout) {
    this.#atomics = atomics;
    this.#words = words;
    this.#layout = layout;
  }

  /** @returns the index of a cell that is now the caller's alone, -1 when there is none. */
  claim(): number {
    const { releases, fullAt, hint, bits, bitWords } = this.#layout;
    const seen = this.#atomics.load(this.#words, releases);
    const fullMark = (seen + 1) | 0;
    if (this.#atomics.load(this.#words, fullAt) === fullMark) return -1;
    const start = this.#atomics.load(this.#words, hint);
    for (let n = 0; n < bitWords; n++) {
      const word = (start + n) % bitWords;
      const index = this.#claimIn(word, this.#atomics.load(this.#words, bits + word));
      if (index >= 0) {
        if (n > 0) this.#atomics.store(this.#words, hint, word);
        return index;
      }
    }
    // Spares the next ones the walk, until a cell is released after `seen` was read.
    this.#atomics.store(this.#words, fullAt, fullMark);
    return -1;
  }

  #claimIn(word: number, takenBits: number): number {
    const { capacity, bits } = this.#layout;
    let free = ~takenBits;
    while (free !== 0) {
      const bit = free & -free;
      const index = word * 32 + 31 - Math.clz32(bit);
      if (index >= capacity) return -1;
      const at = this.#claimWord(index);
      const claim = this.#atomics.load(this.#words, at);
      // Claims the cell.
      if (
        (claim & 1) === 0 &&
        this.#atomics.compareExchange(this.#words, at, claim, (claim + 1) | 0) === claim
      ) {
        this.#atomics.or(this.#words, bits + word, bit);
        return index;
      }
      free &= ~bit;
    }
    return -1;
  }

  /** Gives back a cell that the caller owns and nobody else can see. */
  release(index: number): void {
    const { bits } = this.#layout;
    const at = this.#claimWord(index);
    const claim = this.#atomics.load(this.#words, at);
    this.#atomics.and(this.#words, bits + (index >>> 5), ~(1 << (index & 31)));
    this.#atomics.store(this.#words, at, (claim + 1) | 0);
    this.noteRelease();
  }

  /** Lets the next claim look again. */
  noteRelease(): void {
    this.#atomics.add(this.#words, this.#layout.releases, 1);
  }

  /** The claim word; odd: taken. */
  claimOf(index: number): number {
    return this.#atomics.load(this.#words, this.#claimWord(index));
  }

  /** Cells taken, give or take the claims under way. */
  taken(): number {
    const { bits, bitWords } = this.#layout;
    let count = 0;
    for (let word = 0; word < bitWords; word++) {
      for (let left = this.#atomics.load(this.#words, bits + word); left !== 0; left &= left - 1) {
        count++;
      }
    }
    return count;
  }

  #claimWord(index: number): number {
    return this.#layout.cells + index * CELL_WORDS + CLAIM;
  }
}
