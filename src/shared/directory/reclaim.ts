/**
 * Cells on their way back to the pool, on the control thread. A cell is given back when it was taken by nobody who could
 * still use it: it was noted as removed, or as claimed but not published, then every thread passed a quiescent point, and
 * its claim word is still the one that was noted. The same claim over a whole quiescent period means that its owner is no
 * longer inside the operation that claimed it, and an operation ends by publishing or releasing: the owner is dead.
 */
import type { Quiescence } from '../quiescence.js';
import { CELL_FIELD } from './cell.js';
import { CELL_STATE, reclaimed, stateOf } from './cell-life.js';
import type { DirectoryArena } from './directory-arena.js';

/** Words that the next owner finds zero: counters and limiter. */
const OWNERLESS_WORDS = CELL_FIELD.GENERATION / 4;

export class CellReclaimer {
  readonly #arena: DirectoryArena;
  readonly #quiescence: Quiescence;
  readonly #published: (index: number) => boolean;
  /** Cell index to claim word. */
  #noted = new Map<number, number>();
  #waiting = new Map<number, number>();
  #epoch = 0;

  /** `published`: whether a table that threads may read holds the cell. */
  constructor(
    arena: DirectoryArena,
    quiescence: Quiescence,
    published: (index: number) => boolean,
  ) {
    this.#arena = arena;
    this.#quiescence = quiescence;
    this.#published = published;
  }

  /** `claim`: the odd claim word under which the cell was seen dead, or not published. */
  note(index: number, claim: number): void {
    if (!this.#waiting.has(index)) this.#noted.set(index, claim);
  }

  /** Gives back at most `budget` cells. @returns whether there is more to do, now or after a quiescent point. */
  step(budget: number): boolean {
    if (this.#waiting.size === 0 && this.#noted.size > 0) {
      this.#waiting = this.#noted;
      this.#noted = new Map();
      this.#epoch = this.#quiescence.request();
    } else if (this.#waiting.size > 0 && this.#quiescence.passed(this.#epoch)) {
      let left = budget;
      for (const [index, claim] of this.#waiting) {
        if (left-- === 0) break;
        this.#waiting.delete(index);
        this.#giveBack(index, claim);
      }
    }
    return this.#waiting.size + this.#noted.size > 0;
  }

  #giveBack(index: number, claim: number): void {
    const { atomics, words, pool } = this.#arena;
    if (pool.claimOf(index) !== claim) return;
    const generation = this.#arena.generation(index);
    const state = stateOf(generation);
    const unseen = state === CELL_STATE.FRESH && !this.#published(index);
    if (state !== CELL_STATE.DEAD && !unseen) return;
    const cell = this.#arena.cell(index);
    for (let word = 0; word < OWNERLESS_WORDS; word++) atomics.store(words, cell + word, 0);
    this.#arena.swapGeneration(index, generation, reclaimed(generation));
    pool.release(index);
  }
}
