/**
 * One open-addressing table of slots, probed linearly. A slot goes from empty to an entry or to sealed, and from an entry
 * to a tombstone; nothing ever becomes empty again while threads use the table. So all who look for one key walk the same
 * way to the same end, and the compare-and-swap on that end decides between them.
 */
import type { ArenaAtomics } from '../arena-atomics.js';

export const SLOT_EMPTY = 0;
/** Was empty when a migration passed: the key that would go here goes to the other table. */
export const SLOT_SEALED = -1;
export const SLOT_TOMBSTONE = -2;

export class SlotTable {
  readonly slots: number;
  readonly #atomics: ArenaAtomics;
  readonly #words: Int32Array;
  readonly #first: number;

  constructor(atomics: ArenaAtomics, words: Int32Array, first: number, slots: number) {
    this.slots = slots;
    this.#atomics = atomics;
    this.#words = words;
    this.#first = first;
  }

  /** Where the walk for a hash begins. */
  home(hash: number): number {
    return Math.floor(((hash >>> 0) * this.slots) / 4_294_967_296);
  }

  next(slot: number): number {
    return slot + 1 === this.slots ? 0 : slot + 1;
  }

  entry(slot: number): number {
    return this.#atomics.load(this.#words, this.#first + slot);
  }

  /** Publishes cell `index` in an empty slot. @returns false when the slot was no longer empty. */
  publish(slot: number, index: number): boolean {
    return this.#swap(slot, SLOT_EMPTY, index + 1);
  }

  /** Closes an empty slot for ever. @returns false when it was no longer empty. */
  seal(slot: number): boolean {
    return this.#swap(slot, SLOT_EMPTY, SLOT_SEALED);
  }

  /** The slot that holds cell `index`, whose key has this hash; -1 when none does. */
  slotOf(hash: number, index: number): number {
    let slot = this.home(hash);
    for (let n = 0; n < this.slots; n++, slot = this.next(slot)) {
      const entry = this.entry(slot);
      if (entry === index + 1) return slot;
      if (entry === SLOT_EMPTY || entry === SLOT_SEALED) return -1;
    }
    return -1;
  }

  /** Control thread: puts cell `index` in, unless it is there already. */
  ensure(hash: number, index: number): void {
    let slot = this.home(hash);
    for (;;) {
      const entry = this.entry(slot);
      if (entry === index + 1) return;
      if (entry !== SLOT_EMPTY) slot = this.next(slot);
      else if (this.publish(slot, index)) return;
    }
  }

  /** Control thread: the entry of a dead cell. */
  bury(slot: number): void {
    this.#atomics.store(this.#words, this.#first + slot, SLOT_TOMBSTONE);
  }

  /** Control thread: empties slots `[from, to)` of a table that no thread uses. */
  clear(from: number, to: number): void {
    for (let slot = from; slot < to; slot++) {
      this.#atomics.store(this.#words, this.#first + slot, SLOT_EMPTY);
    }
  }

  #swap(slot: number, expected: number, entry: number): boolean {
    return (
      this.#atomics.compareExchange(this.#words, this.#first + slot, expected, entry) === expected
    );
  }
}
