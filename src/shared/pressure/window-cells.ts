/**
 * Pressure windows in cells of the key directory, in the bytes of a cell that its directory leaves to the owner. Each word
 * is written by one store or exchange and stands for itself.
 */
import type { ArenaAtomics } from '../arena-atomics.js';

/** The key space of buckets. RPC types have the numbers from 0 on; from 0xffff downwards they are reserved. */
export const BUCKET_SPACE = 0xffff;

/** Byte offsets within a cell. */
const FIELD = {
  /** u64, see window-word.ts. */
  WINDOW: 8,
  /** i32, not 0: the epoch has grown since the cell was published, so no thread takes the bucket for unknown. */
  ANNOUNCED: 16,
  /** i32, not 0: somebody may wait for the end of the window. Set by who waits, cleared by who wakes them. */
  WATCHED: 20,
} as const;

/** The half of a u64 that holds its low bits, as an index into 32-bit words: 0, but on a big-endian machine. */
const LOW_HALF: number = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1;

export class WindowCells {
  readonly #atomics: ArenaAtomics;
  readonly #i32: Int32Array;
  readonly #u64: BigUint64Array;

  /** `cell` is everywhere the byte offset of a cell in `buffer`. */
  constructor(buffer: SharedArrayBuffer, atomics: ArenaAtomics = Atomics) {
    this.#atomics = atomics;
    this.#i32 = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
    this.#u64 = new BigUint64Array(buffer, 0, buffer.byteLength >>> 3);
  }

  /** Whether there is no window, without the cost of a 64-bit number. */
  isEmpty(cell: number): boolean {
    return this.#atomics.load(this.#i32, ((cell + FIELD.WINDOW) >>> 2) + LOW_HALF) === 0;
  }

  word(cell: number): bigint {
    return this.#atomics.load(this.#u64, (cell + FIELD.WINDOW) >>> 3);
  }

  /** The newest signal replaces what was there. @returns what that was. */
  replace(cell: number, word: bigint): bigint {
    return this.#atomics.exchange(this.#u64, (cell + FIELD.WINDOW) >>> 3, word);
  }

  /** For who only tidies up: not over a signal that came since. */
  swap(cell: number, from: bigint, to: bigint): boolean {
    const at = (cell + FIELD.WINDOW) >>> 3;
    return this.#atomics.compareExchange(this.#u64, at, from, to) === from;
  }

  isAnnounced(cell: number): boolean {
    return this.#atomics.load(this.#i32, (cell + FIELD.ANNOUNCED) >>> 2) !== 0;
  }

  announced(cell: number): void {
    this.#atomics.store(this.#i32, (cell + FIELD.ANNOUNCED) >>> 2, 1);
  }

  /** Before the window is read once more. */
  watch(cell: number): void {
    this.#atomics.store(this.#i32, (cell + FIELD.WATCHED) >>> 2, 1);
  }

  /** After the window was shortened. @returns whether somebody may wait, whom the caller must tell. */
  claimWatchers(cell: number): boolean {
    const at = (cell + FIELD.WATCHED) >>> 2;
    return (
      this.#atomics.load(this.#i32, at) !== 0 && this.#atomics.exchange(this.#i32, at, 0) !== 0
    );
  }
}
