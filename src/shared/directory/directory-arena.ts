/** The directory's words in the arena as its parts see them. Cells go by index here, by byte offset outside. */
import type { ArenaAtomics } from '../arena-atomics.js';
import { CELL_BYTES, CELL_FIELD } from './cell.js';
import { CELL_STATE, revived, stateOf } from './cell-life.js';
import { CellPool } from './cell-pool.js';
import { type DirectoryLayout, directoryLayout } from './directory-layout.js';
import { SlotTable } from './slot-table.js';

const CELL_WORDS = CELL_BYTES / 4;
const GENERATION = CELL_FIELD.GENERATION / 4;
const HASH_LO = CELL_FIELD.HASH_LO / 4;

export class DirectoryArena {
  readonly atomics: ArenaAtomics;
  readonly words: Int32Array;
  readonly u64: BigUint64Array;
  readonly layout: DirectoryLayout;
  readonly pool: CellPool;
  readonly tables: readonly [SlotTable, SlotTable];

  constructor(buffer: SharedArrayBuffer, base: number, capacity: number, atomics: ArenaAtomics) {
    this.atomics = atomics;
    this.words = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
    this.u64 = new BigUint64Array(buffer, 0, buffer.byteLength >>> 3);
    this.layout = directoryLayout(base, capacity);
    this.pool = new CellPool(atomics, this.words, this.layout);
    const [first, second] = this.layout.tables;
    this.tables = [
      new SlotTable(atomics, this.words, first, this.layout.slots),
      new SlotTable(atomics, this.words, second, this.layout.slots),
    ];
  }

  /** Word index of a cell. */
  cell(index: number): number {
    return this.layout.cells + index * CELL_WORDS;
  }

  phase(): number {
    return this.atomics.load(this.words, this.layout.phase);
  }

  generation(index: number): number {
    return this.atomics.load(this.words, this.cell(index) + GENERATION);
  }

  swapGeneration(index: number, from: number, to: number): boolean {
    const at = this.cell(index) + GENERATION;
    return this.atomics.compareExchange(this.words, at, from, to) === from;
  }

  hash(index: number): number {
    return this.atomics.load(this.words, this.cell(index) + HASH_LO);
  }

  /**
   * For whoever found the cell by its key in a table: makes it live if it only just was published, or was about to be
   * removed. @returns false when it is dead, for good.
   */
  use(index: number): boolean {
    for (;;) {
      const generation = this.generation(index);
      const state = stateOf(generation);
      if (state === CELL_STATE.LIVE) return true;
      if (state === CELL_STATE.DEAD) return false;
      if (this.swapGeneration(index, generation, revived(generation))) return true;
    }
  }
}
