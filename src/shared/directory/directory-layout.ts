/**
 * Where the directory keeps what, from a base that is a multiple of 64: a header, the cells, one bit per cell, and two
 * slot tables. All zero is an empty directory.
 */
import { CELL_BYTES } from './cell.js';

const HEADER_BYTES = 64;
/**
 * Slots of a table per 8 cells: live keys fill at most 53 % of it, so that probes stay short, and two tables still leave
 * a pair within 256 bytes: 240 + 2 x 4 x 15/8 + 1/8 = 255.125.
 */
const SLOTS_PER_8_CELLS = 15;
const MIN_SLOTS = 4;
const MAX_CAPACITY = 1_048_576;

/** Indices of 32-bit words; `cells` is the first word of cell 0. */
export interface DirectoryLayout {
  readonly capacity: number;
  readonly slots: number;
  /** Which table is in force and whether keys are moving, see directory-phase.ts. Written by the control thread. */
  readonly phase: number;
  /** Tombstones of table 0 and, one word on, of table 1. Written by the control thread. */
  readonly dead: number;
  /** Cells given back so far; any thread adds. */
  readonly releases: number;
  /** One more than the `releases` at which no cell was free. */
  readonly fullAt: number;
  /** Word of `bits` in which a free cell was found last. */
  readonly hint: number;
  /** Migrations finished. Written by the control thread. */
  readonly migrations: number;
  /** Calls that found no room: index of a u64. Any thread adds. */
  readonly overflow64: number;
  readonly cells: number;
  /** One bit per cell: probably taken. A free cell's bit is always clear. */
  readonly bits: number;
  readonly bitWords: number;
  readonly tables: readonly [number, number];
  /** The whole, in bytes. */
  readonly bytes: number;
}

/** @throws RangeError unless `base` is a multiple of 64 and `capacity` an integer from 1 to 1,048,576. */
export function directoryLayout(base: number, capacity: number): DirectoryLayout {
  if (!Number.isSafeInteger(capacity) || capacity < 1 || capacity > MAX_CAPACITY) {
    throw new RangeError(`capacity must be an integer from 1 to ${MAX_CAPACITY}, got ${capacity}`);
  }
  if (!Number.isSafeInteger(base) || base < 0 || base % 64 !== 0) {
    throw new RangeError(`base must be a multiple of 64, got ${base}`);
  }
  const slots = Math.max(MIN_SLOTS, Math.ceil((capacity * SLOTS_PER_8_CELLS) / 8));
  const bitWords = Math.ceil(capacity / 32);
  const first = base / 4;
  const cells = first + HEADER_BYTES / 4;
  const bits = cells + (capacity * CELL_BYTES) / 4;
  const table0 = bits + bitWords;
  const table1 = table0 + slots;
  return {
    capacity,
    slots,
    phase: first,
    dead: first + 1,
    releases: first + 3,
    fullAt: first + 4,
    hint: first + 5,
    overflow64: base / 8 + 3,
    migrations: first + 8,
    cells,
    bits,
    bitWords,
    tables: [table0, table1],
    bytes: Math.ceil(((table1 + slots) * 4 - base) / 8) * 8,
  };
}
