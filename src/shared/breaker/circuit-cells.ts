/**
 * Circuits in cells of the key directory: in the bytes of a cell that its directory leaves to the owner. Only the word is
 * moved by compare-and-swap, and it alone decides. What stands beside it helps to forget the right circuit, or is read
 * only while the word says so; a thread killed between two writes leaves it a little old, never wrong.
 */
import type { ArenaAtomics } from '../arena-atomics.js';
import { CELL_FIELD } from '../directory/cell.js';
import { type CircuitState, TICKS_PER_MS, wholeTick } from './circuit-state.js';
import { TROUBLE_MASK, unpackCircuit } from './circuit-word.js';
import {
  countOutcome,
  countWindow,
  periodOf,
  slotOf,
  WINDOW_SLOTS,
  type WindowCounts,
  type WindowSlot,
} from './failure-window.js';

/** Byte offsets within a cell; u64 each. */
const FIELD = {
  /** See circuit-word.ts. */
  WORD: 0,
  /** Ticks: when a call was admitted, or counted, last. Any thread, the last one wins. */
  TOUCHED: 8,
  /** Ticks: when the circuit was opened that is half-open now. Whoever is about to make the probe. */
  OPENED: 16,
  /** WINDOW_SLOTS slots: period (32), total (16), failures (16). Whoever counts, by compare-and-swap. */
  WINDOW: 24,
} as const;

const SALT = CELL_FIELD.HASH_LO / 4;

/** The half of a u64 that holds its low bits, as an index into 32-bit words: 0, but on a big-endian machine. */
const LOW_HALF: number = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

export class CircuitCells {
  readonly #atomics: ArenaAtomics;
  readonly #i32: Int32Array;
  readonly #u64: BigUint64Array;

  /** `cell` is everywhere the byte offset of a cell in `buffer`. */
  constructor(buffer: SharedArrayBuffer, atomics: ArenaAtomics = Atomics) {
    this.#atomics = atomics;
    this.#i32 = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
    this.#u64 = new BigUint64Array(buffer, 0, buffer.byteLength >>> 3);
  }

  /** Whether the circuit is closed without failures; without the cost of a 64-bit number. */
  isHealthy(cell: number): boolean {
    const low = this.#atomics.load(this.#i32, ((cell + FIELD.WORD) >>> 2) + LOW_HALF);
    return (low & TROUBLE_MASK) === 0;
  }

  word(cell: number): bigint {
    return this.#atomics.load(this.#u64, (cell + FIELD.WORD) >>> 3);
  }

  /** What `word`, read from this cell, says. */
  stateOf(cell: number, word: bigint): CircuitState {
    return unpackCircuit(word, this.#ms(cell + FIELD.OPENED));
  }

  /** Moves the circuit on, if it is still at `from`. */
  swap(cell: number, from: bigint, to: bigint): boolean {
    const at = (cell + FIELD.WORD) >>> 3;
    return this.#atomics.compareExchange(this.#u64, at, from, to) === from;
  }

  /** 32 bits that differ from address to address. */
  salt(cell: number): number {
    return this.#atomics.load(this.#i32, (cell >>> 2) + SALT);
  }

  touch(cell: number, nowMs: number): void {
    this.#setMs(cell + FIELD.TOUCHED, nowMs);
  }

  touchedAtMs(cell: number): number {
    return this.#ms(cell + FIELD.TOUCHED);
  }

  /** Before the swap from open to half-open. Whoever loses that swap has written the same, or the time of an older one. */
  noteOpened(cell: number, openedAtMs: number): void {
    this.#setMs(cell + FIELD.OPENED, openedAtMs);
  }

  /** Counts an outcome in the window. @returns the window then. */
  record(cell: number, failed: boolean, nowMs: number, windowMs: number): WindowCounts {
    const period = periodOf(nowMs, windowMs);
    const at = ((cell + FIELD.WINDOW) >>> 3) + slotOf(period);
    for (;;) {
      const word = this.#atomics.load(this.#u64, at);
      const next = packSlot(countOutcome(unpackSlot(word), period, failed));
      if (next === word || this.#atomics.compareExchange(this.#u64, at, word, next) === word) break;
    }
    return this.counts(cell, nowMs, windowMs);
  }

  counts(cell: number, nowMs: number, windowMs: number): WindowCounts {
    const first = (cell + FIELD.WINDOW) >>> 3;
    const slots = Array.from({ length: WINDOW_SLOTS }, (_, i) =>
      unpackSlot(this.#atomics.load(this.#u64, first + i)),
    );
    return countWindow(slots, periodOf(nowMs, windowMs));
  }

  clearWindow(cell: number): void {
    const first = (cell + FIELD.WINDOW) >>> 3;
    for (let i = 0; i < WINDOW_SLOTS; i++) this.#atomics.store(this.#u64, first + i, 0n);
  }

  #ms(offset: number): number {
    return Number(this.#atomics.load(this.#u64, offset >>> 3)) / TICKS_PER_MS;
  }

  #setMs(offset: number, ms: number): void {
    this.#atomics.store(this.#u64, offset >>> 3, BigInt(wholeTick(ms) * TICKS_PER_MS));
  }
}

/** An empty slot is none: its total is 0. */
function unpackSlot(word: bigint): WindowSlot | undefined {
  if (word === 0n) return undefined;
  const low = Number(word & 0xffff_ffffn);
  return { period: Number(word >> 32n), total: low >>> 16, failures: low & 0xffff };
}

function packSlot({ period, total, failures }: WindowSlot): bigint {
  return (BigInt(period >>> 0) << 32n) | BigInt(((total << 16) | failures) >>> 0);
}
