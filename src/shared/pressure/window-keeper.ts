/** The control thread's side of the pressure windows: gives back the cells of windows that are over, and bounds open ones. */
import type { ArenaAtomics } from '../arena-atomics.js';
import type { DirectoryKeeper } from '../directory-keeper.js';
import type { KeyDirectory } from '../key-directory.js';
import { BUCKET_SPACE, WindowCells } from './window-cells.js';
import { shortenWindow, unpackWindow } from './window-word.js';

export interface WindowKeeperParts {
  readonly buffer: SharedArrayBuffer;
  readonly directory: KeyDirectory;
  /** Of that directory. */
  readonly keeper: DirectoryKeeper;
}

export class WindowKeeper {
  readonly #directory: KeyDirectory;
  readonly #keeper: DirectoryKeeper;
  readonly #cells: WindowCells;

  constructor({ buffer, directory, keeper }: WindowKeeperParts, atomics: ArenaAtomics = Atomics) {
    this.#directory = directory;
    this.#keeper = keeper;
    this.#cells = new WindowCells(buffer, atomics);
  }

  /** Removes the buckets without an open window. */
  sweep(nowNs: number): { readonly removed: number; readonly kept: number } {
    const isOpen = (index: number): boolean => {
      const window = unpackWindow(this.#cells.word(this.#directory.cellAt(index)));
      return window !== undefined && window.endNs > nowNs;
    };
    let removed = 0;
    const buckets = this.#buckets();
    for (const index of buckets) if (this.#keeper.remove(index, isOpen)) removed += 1;
    return { removed, kept: buckets.length - removed };
  }

  /** No window in force ends later than `maxMs` from now. Threads that wait are to be told. */
  shorten(maxMs: number, nowNs: number): void {
    for (const index of this.#buckets()) {
      const cell = this.#directory.cellAt(index);
      const word = this.#cells.word(cell);
      const shorter = shortenWindow(word, maxMs, nowNs);
      // A signal that comes in between is measured by the new bound already.
      if (shorter !== word) this.#cells.swap(cell, word, shorter);
    }
  }

  #buckets(): number[] {
    const found: number[] = [];
    this.#directory.visit((index, _generation, space) => {
      if (space === BUCKET_SPACE) found.push(index);
    });
    return found;
  }
}
