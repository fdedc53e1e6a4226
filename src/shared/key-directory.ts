/**
 * The key directory: (space, key) to cell, lock-free, for any number of threads. Invariant: at every moment at most one
 * live cell per (space, key). docs/design/key-directory.md has the protocol and the argument at length; in short:
 *
 * 1. Insert. A cell is claimed, filled where nobody looks, and published by one compare-and-swap on the slot at which the
 *    walk for its key ends. Slots never become empty again, so whoever looks for the same key walks over the same slots
 *    to that one: it finds the cell there, or loses the compare-and-swap and walks again. A cell found with the wanted
 *    key is live, or becomes live by being found, or is dead for good and walked over.
 * 2. Remove (control thread). The generation word alone decides: live -> condemned -> dead, and anybody who finds the
 *    condemned cell makes it live again. Only after dead does another cell of that key have a place, further on.
 * 3. Migrate (control thread). A walk that ends at an empty slot may insert there; one that ends at a sealed slot goes on
 *    in the other table. A slot is sealed only while empty and for ever, so all walks for one key end in the same table.
 *    Live cells are entered in the other table too; they do not move, so both entries mean the same cell.
 * 4. Reuse. A removed cell, and a table left behind, are reused only after every attached thread has passed a quiescent
 *    point: inside one operation, what was found stays what it was.
 *
 * A thread may die between any two steps. What it leaves is a claimed cell that nobody sees (found again by the keeper's
 * sweep), or a published one that the next finder, or the sweep, makes live.
 *
 * Between turns of its loop a thread keeps a cell only with its generation (thread-key-cache.ts). Who waits at a cell is
 * released when its limit goes; and before a thread passes a quiescent point it releases whoever waits at a dead cell
 * (`TableStage.forgetDead`), so nobody waits at one that is reused. An effect that must not be lost on a cell that is being
 * removed comes first, then `isLive`, else undo and look up again: `remove` asks whether to keep the cell after it has
 * changed the generation, so one of the two sees the other.
 */
import type { ArenaAtomics } from './arena-atomics.js';
import { CELL_BYTES, CELL_FIELD } from './directory/cell.js';
import { isLive } from './directory/cell-life.js';
import { DirectoryArena } from './directory/directory-arena.js';
import { directoryLayout } from './directory/directory-layout.js';
import { firstTable } from './directory/directory-phase.js';
import { KeyBlock, type KeyDescription, KeyReader } from './directory/key-block.js';
import { SLOT_EMPTY, SLOT_SEALED, SLOT_TOMBSTONE, type SlotTable } from './directory/slot-table.js';

/** Arena bytes per pair, everything included, that a directory of 128 pairs or more never exceeds. */
export const KEY_DIRECTORY_BYTES_PER_PAIR = 256;

/** Arena bytes of a directory of `capacity` pairs. All zero is an empty one. */
export const keyDirectoryBytes = (capacity: number): number => directoryLayout(0, capacity).bytes;

const GENERATION = CELL_FIELD.GENERATION / 4;
const META = CELL_FIELD.META / 4;
const CELL_WORDS = CELL_BYTES / 4;

/** Ends of a walk that found nothing. */
const AT_EMPTY = -1;
const AT_SEAL = -2;
const NO_END = -3;

/** What the directory says of itself. */
export interface DirectoryUse {
  /** Cells taken: live, or waiting to be reused. */
  readonly used: number;
  readonly capacity: number;
  /** Calls that found no room, since the beginning. */
  readonly overflow: number;
  /** Migrations finished. */
  readonly migrations: number;
}

export class KeyDirectory {
  readonly #arena: DirectoryArena;
  readonly #block: KeyBlock = new KeyBlock();
  readonly #reader: KeyReader = new KeyReader();
  /** The slot at which the last walk ended. */
  #end = 0;

  /** `base`: byte offset of `keyDirectoryBytes(capacity)` zero bytes of `buffer`, a multiple of 64. */
  constructor(
    buffer: SharedArrayBuffer,
    base: number,
    capacity: number,
    atomics: ArenaAtomics = Atomics,
  ) {
    this.#arena = new DirectoryArena(buffer, base, capacity, atomics);
  }

  /** Byte offset of the live cell of (`space`, `key`), 0 when there is none. `key`: from `canonicalKey`. */
  find(space: number, key: string): number {
    this.#block.set(space, key);
    const index = this.#walk();
    return index < 0 ? 0 : this.cellAt(index);
  }

  /** As `find`, but makes the cell if need be. 0 when the directory is full: then it counts the overflow. */
  findOrInsert(space: number, key: string): number {
    const { atomics, words, u64, layout, pool } = this.#arena;
    this.#block.set(space, key);
    let mine = -1;
    for (;;) {
      const found = this.#walk();
      if (found >= 0) {
        if (mine >= 0) pool.release(mine);
        return this.cellAt(found);
      }
      if (mine < 0 && found !== NO_END) mine = pool.claim();
      if (mine < 0 || found === NO_END) {
        if (mine >= 0) pool.release(mine);
        atomics.add(u64, layout.overflow64, 1n);
        return 0;
      }
      this.#block.writeTo(atomics, words, this.#arena.cell(mine));
      if (this.#table.publish(this.#end, mine)) {
        if (this.#arena.use(mine)) return this.cellAt(mine);
        // Found, used and removed by others since: as if it had never been ours.
        mine = -1;
      }
    }
  }

  /** Generation of a cell; odd: live. With the cell it may be kept between turns of the loop. */
  generationOf(cell: number): number {
    return this.#arena.atomics.load(this.#arena.words, (cell >>> 2) + GENERATION);
  }

  /** For a cell found in this turn: whether it is still the live cell of its key. */
  isLive(cell: number): boolean {
    return isLive(this.generationOf(cell));
  }

  /** Byte offset of cell `index`. */
  cellAt(index: number): number {
    return this.#arena.cell(index) * 4;
  }

  /** Index of the cell at a byte offset, from 0 to the capacity - 1. */
  indexOf(cell: number): number {
    return (cell / 4 - this.#arena.layout.cells) / CELL_WORDS;
  }

  /** Key of a cell that is, or was in this turn, live. */
  describe(cell: number): KeyDescription {
    return this.#reader.read(this.#arena.atomics, this.#arena.words, cell / 4);
  }

  /**
   * Calls `seen` for every live cell, in no order, all of which were live at some moment of the visit. `count` is the
   * number of calls counted so far.
   */
  visit(seen: (index: number, generation: number, space: number, count: number) => void): void {
    const { atomics, words, u64, layout } = this.#arena;
    for (let word = 0; word < layout.bitWords; word++) {
      for (let left = atomics.load(words, layout.bits + word); left !== 0; left &= left - 1) {
        const index = word * 32 + 31 - Math.clz32(left & -left);
        const cell = layout.cells + index * CELL_WORDS;
        // Plain reads, eight times as fast: an aligned word never tears, and this is a sample of words that move.
        const generation = words[cell + GENERATION] as number;
        if (!isLive(generation)) continue;
        const space = (words[cell + META] as number) & 0xffff;
        seen(index, generation, space, Number(atomics.load(u64, cell / 2)));
      }
    }
  }

  use(): DirectoryUse {
    const { atomics, words, u64, layout, pool } = this.#arena;
    return {
      used: pool.taken(),
      capacity: layout.capacity,
      overflow: Number(atomics.load(u64, layout.overflow64)),
      migrations: atomics.load(words, layout.migrations),
    };
  }

  /** The table in which the last walk ended. */
  get #table(): SlotTable {
    return this.#arena.tables[this.#ended];
  }
  #ended: 0 | 1 = 0;

  /** Index of the cell of the block's key, else the end of its walk: in `#table`, at `#end`. */
  #walk(): number {
    for (;;) {
      const first = firstTable(this.#arena.phase()) as 0 | 1;
      const found = this.#walkIn(first);
      if (found !== AT_SEAL) return found;
      const moved = this.#walkIn(first === 0 ? 1 : 0);
      // Sealed as well only if both tables changed roles, which a thread inside an operation holds up: see 4.
      if (moved !== AT_SEAL) return moved;
    }
  }

  #walkIn(which: 0 | 1): number {
    const { atomics, words, tables } = this.#arena;
    const table = tables[which];
    this.#ended = which;
    let slot = table.home(this.#block.hash);
    for (let n = 0; n < table.slots; n++, slot = table.next(slot)) {
      const entry = table.entry(slot);
      if (entry === SLOT_EMPTY) {
        this.#end = slot;
        return AT_EMPTY;
      }
      if (entry === SLOT_SEALED) return AT_SEAL;
      if (entry === SLOT_TOMBSTONE) continue;
      const index = entry - 1;
      if (!this.#block.matches(atomics, words, this.#arena.cell(index))) continue;
      if (this.#arena.use(index)) return index;
    }
    return NO_END;
  }
}
