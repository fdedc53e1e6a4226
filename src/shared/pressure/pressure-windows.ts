/**
 * The pressure windows of all buckets as one thread sees them: a signal that one thread gets holds back all at once. A
 * bucket without a signal takes no memory, and asking for it costs one look at one shared word.
 *
 * - A signal is one exchange of the bucket's word. Before the first one a cell is published, then the epoch grows, by
 *   which every thread looks for the cell again, then the cell is marked as announced. Whoever is killed in between
 *   leaves a cell that is not announced, and the next signal announces it.
 * - A cell with an open window is not removed. The effect comes first, then the look whether the cell still lives; if not,
 *   the signal is given again, in another cell. See docs/design/key-directory.md.
 * - Who waits marks the cell as watched, then reads the window once more; who shortens a window takes the mark and tells
 *   the others. One of the two sees the other. A window that becomes longer is noticed at its old end.
 */
import type { ArenaAtomics } from '../arena-atomics.js';
import type { KeyDirectory } from '../key-directory.js';
import { BUCKET_SPACE, WindowCells } from './window-cells.js';
import { type PressureWindow, packWindow, unpackWindow } from './window-word.js';

export interface PressureWindowsPlace {
  readonly buffer: SharedArrayBuffer;
  readonly directory: KeyDirectory;
  /** Byte offset of the epoch, i32. */
  readonly epoch: number;
}

/** Where one thread found a bucket last: its cell, or that there is none. */
export class BucketPlace {
  readonly bucket: string;
  /** Byte offset, 0: there was none. */
  cell = 0;
  /** Of the cell. */
  generation = 0;
  /** In which it was found out that there is no cell. */
  epoch: number = Number.NaN;

  constructor(bucket: string) {
    this.bucket = bucket;
  }
}

export interface Signalled {
  /** `none`: said nothing, or lifted what was not there. `full`: there is no room for one more bucket. */
  readonly effect: 'none' | 'opened' | 'lifted' | 'full';
  /** A window has become shorter for which somebody may wait: tell all threads. */
  readonly wakes: boolean;
}

const NOTHING: Signalled = Object.freeze({ effect: 'none', wakes: false });
const FULL: Signalled = Object.freeze({ effect: 'full', wakes: false });

export class PressureWindows {
  readonly #atomics: ArenaAtomics;
  readonly #i32: Int32Array;
  readonly #directory: KeyDirectory;
  readonly #epoch: number;
  readonly #cells: WindowCells;

  constructor({ buffer, directory, epoch }: PressureWindowsPlace, atomics: ArenaAtomics = Atomics) {
    this.#atomics = atomics;
    this.#i32 = new Int32Array(buffer, 0, buffer.byteLength >>> 2);
    this.#directory = directory;
    this.#epoch = epoch >>> 2;
    this.#cells = new WindowCells(buffer, atomics);
  }

  /** Whether the bucket has no window, without looking at a clock. */
  isCalm(place: BucketPlace): boolean {
    const cell = this.#find(place);
    return cell === 0 || this.#cells.isEmpty(cell);
  }

  /** The window that is open now. */
  window(place: BucketPlace, nowNs: number): PressureWindow | undefined {
    const cell = this.#find(place);
    if (cell === 0) return undefined;
    const word = this.#cells.word(cell);
    const window = unpackWindow(word);
    if (window === undefined || window.endNs > nowNs) return window;
    // The next one need not look at the clock.
    this.#cells.swap(cell, word, 0n);
    return undefined;
  }

  /** Somebody in this thread waits: to be called before the window is read for the last time. */
  watch(place: BucketPlace): void {
    const cell = this.#find(place);
    if (cell !== 0) this.#cells.watch(cell);
  }

  /** A pressure was reported that comes to a window of `windowMs`, whole ms; 0 lifts the one that is open. */
  signal(place: BucketPlace, pressure: number, windowMs: number, nowNs: number): Signalled {
    if (!(windowMs > 0)) return this.#lift(place, nowNs);
    const word = packWindow(pressure, windowMs, nowNs);
    const endNs = unpackWindow(word)?.endNs ?? 0;
    for (let wakes = false; ; place.cell = 0, place.epoch = Number.NaN) {
      const cell = this.#findOrMake(place);
      if (cell === 0) return FULL;
      if (!this.#cells.isAnnounced(cell)) {
        this.#atomics.add(this.#i32, this.#epoch, 1);
        this.#cells.announced(cell);
      }
      const before = unpackWindow(this.#cells.replace(cell, word));
      if (before !== undefined && before.endNs > endNs)
        wakes = this.#cells.claimWatchers(cell) || wakes;
      if (this.#directory.generationOf(cell) === place.generation)
        return { effect: 'opened', wakes };
    }
  }

  #lift(place: BucketPlace, nowNs: number): Signalled {
    const cell = this.#find(place);
    if (cell === 0 || this.#cells.isEmpty(cell)) return NOTHING;
    const before = unpackWindow(this.#cells.replace(cell, 0n));
    if (before === undefined || before.endNs <= nowNs) return NOTHING;
    return { effect: 'lifted', wakes: this.#cells.claimWatchers(cell) };
  }

  #find(place: BucketPlace): number {
    const { cell } = place;
    // An odd generation is never used twice for one cell.
    if (cell !== 0 && (place.generation & 1) === 1) {
      if (this.#directory.generationOf(cell) === place.generation) return cell;
    }
    // Before the search: a cell that is published later has an epoch of its own.
    const epoch = this.#atomics.load(this.#i32, this.#epoch);
    if (cell === 0 && place.epoch === epoch) return 0;
    const found = this.#directory.find(BUCKET_SPACE, place.bucket);
    this.#remember(place, found, epoch);
    return found;
  }

  #findOrMake(place: BucketPlace): number {
    const found = this.#find(place);
    if (found !== 0) return found;
    const made = this.#directory.findOrInsert(BUCKET_SPACE, place.bucket);
    if (made !== 0) this.#remember(place, made, Number.NaN);
    return made;
  }

  #remember(place: BucketPlace, cell: number, epoch: number): void {
    place.cell = cell;
    place.epoch = epoch;
    place.generation = cell === 0 ? 0 : this.#directory.generationOf(cell);
  }
}
