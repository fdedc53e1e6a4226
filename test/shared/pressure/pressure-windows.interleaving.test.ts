import { describe, expect, it } from 'vitest';
import { CELL_FIELD } from '../../../src/shared/directory/cell.js';
import { DirectoryKeeper } from '../../../src/shared/directory-keeper.js';
import { KeyDirectory, keyDirectoryBytes } from '../../../src/shared/key-directory.js';
import {
  BucketPlace,
  PressureWindows,
  type Signalled,
} from '../../../src/shared/pressure/pressure-windows.js';
import { WindowKeeper } from '../../../src/shared/pressure/window-keeper.js';
import { explore, type Scenario } from '../../interleaving/explorer.js';
import type { Body, SteppedAtomics, Visible } from '../../interleaving/stepped-thread.js';

const EPOCH = 0;
const FLAG = 4;
const BASE = 64;
const CELLS = 2;
const NEVER_PASSES = { request: () => 0, passed: () => false };
const MS = 1e6;

/** Windows of one bucket that several explored threads share. */
class Shared {
  readonly buffer: SharedArrayBuffer = new SharedArrayBuffer(BASE + keyDirectoryBytes(CELLS));
  readonly words: Int32Array = new Int32Array(this.buffer);

  directory(atomics: SteppedAtomics = Atomics): KeyDirectory {
    return new KeyDirectory(this.buffer, BASE, CELLS, atomics);
  }

  windows(atomics: SteppedAtomics = Atomics): PressureWindows {
    const place = { buffer: this.buffer, directory: this.directory(atomics), epoch: EPOCH };
    return new PressureWindows(place, atomics);
  }

  signal(windowMs: number, nowMs: number, atomics: SteppedAtomics = Atomics): Signalled {
    const pressure = windowMs / 1000;
    return this.windows(atomics).signal(new BucketPlace('a'), pressure, windowMs, nowMs * MS);
  }

  /** As somebody sees it who has never looked before; 0: no window. */
  endMs(nowMs: number): number {
    const window = this.windows().window(new BucketPlace('a'), nowMs * MS);
    return (window?.endNs ?? 0) / MS;
  }

  sweep(nowMs: number, atomics: SteppedAtomics = Atomics): number {
    const { buffer } = this;
    const directory = this.directory(atomics);
    const keeper = new DirectoryKeeper(buffer, BASE, CELLS, NEVER_PASSES, atomics);
    return new WindowKeeper({ buffer, directory, keeper }, atomics).sweep(nowMs * MS).removed;
  }

  /** The words of the windows, the epoch, the flag, and what says whether a cell is alive. */
  readonly visible: Visible = (words, index) => {
    const byte = index * words.BYTES_PER_ELEMENT;
    return (
      byte < BASE ||
      this.#cells.some((cell) => {
        const field = byte - cell;
        return (field >= 8 && field < 24) || field === CELL_FIELD.GENERATION;
      })
    );
  };

  readonly #cells: readonly number[] = Array.from({ length: CELLS }, (_, i) =>
    this.directory().cellAt(i),
  );
}

const signalling =
  (shared: Shared, windowMs: number, nowMs: number, thenSay = false): Body =>
  (atomics) => {
    const { wakes } = shared.signal(windowMs, nowMs, atomics);
    if (thenSay) atomics.store(shared.words, FLAG / 4, 1);
    return { wakes };
  };

/** Looks before it is told, and once more after. */
const looking =
  (shared: Shared, nowMs: number): Body =>
  (atomics) => {
    const windows = shared.windows(atomics);
    const place = new BucketPlace('a');
    windows.isCalm(place);
    const told = atomics.load(shared.words, FLAG / 4) === 1;
    return { told, isCalm: windows.isCalm(place), ends: windows.window(place, nowMs * MS)?.endNs };
  };

describe('pressure windows, every interleaving', () => {
  it('are seen by who found the bucket without one, once the signal is given', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [signalling(shared, 100, 5, true), looking(shared, 5)],
        checkEnd([, seen]) {
          if ((seen as { told: boolean }).told)
            expect(seen).toMatchObject({ isCalm: false, ends: 105 * MS });
          expect(shared.endMs(5)).toBe(105);
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(5);
  });

  it('are seen too when a thread was killed anywhere in the signal before', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [signalling(shared, 300, 4), signalling(shared, 100, 5, true), looking(shared, 5)],
        mortal: [0],
        startsAfter: { 1: 0 },
        checkEnd([, , seen]) {
          if ((seen as { told: boolean }).told)
            expect(seen).toMatchObject({ isCalm: false, ends: 105 * MS });
          // The newest one has replaced what was left.
          expect(shared.endMs(5)).toBe(105);
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(20);
  });

  it('are one or the other, whole, when two signals come at once', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [signalling(shared, 100, 5), signalling(shared, 900, 5)],
        mortal: [1],
        checkEnd() {
          expect([105, 905]).toContain(shared.endMs(5));
          expect(shared.directory().use().used).toBeGreaterThan(0);
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(5);
  });

  it('are not lost when the bucket is forgotten in the same moment', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      shared.signal(100, 0);
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [(atomics) => shared.sweep(200, atomics), signalling(shared, 100, 200)],
        mortal: [0],
        checkEnd() {
          expect(shared.endMs(200)).toBe(300);
          // And the next sweep leaves it alone.
          shared.sweep(200);
          expect(shared.endMs(200)).toBe(300);
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(5);
  });

  it('are not lost either when somebody tidies up the one before, which is over', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      shared.signal(100, 0);
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [looking(shared, 200), signalling(shared, 100, 200)],
        checkEnd: () => expect(shared.endMs(200)).toBe(300),
      };
    };
    expect(explore(create).ends).toBeGreaterThan(2);
  });

  /** Waits for what it has seen, unless it sees something else after it has said so. */
  const waiting =
    (shared: Shared, looksAgain: boolean): Body =>
    (atomics) => {
      const windows = shared.windows(atomics);
      const place = new BucketPlace('a');
      const seen = windows.window(place, 5 * MS)?.endNs;
      windows.watch(place);
      return looksAgain ? windows.window(place, 5 * MS)?.endNs : seen;
    };

  const lifting = (looksAgain: boolean) => (): Scenario => {
    const shared = new Shared();
    shared.signal(1000, 0);
    return {
      buffer: shared.buffer,
      visible: shared.visible,
      threads: [
        waiting(shared, looksAgain),
        waiting(shared, looksAgain),
        signalling(shared, 100, 5),
        signalling(shared, 0, 5),
      ],
      checkEnd([first, second, shortened, lifted]) {
        const says = (result: unknown): boolean => (result as { wakes: boolean }).wakes;
        const wakes = says(shortened) || says(lifted);
        // Who waits for a window that is not the last one any more is told.
        for (const endNs of [first, second])
          if (endNs !== undefined && endNs !== shared.endMs(5) * MS) expect(wakes).toBe(true);
      },
    };
  };

  it('that become shorter, or are lifted, wake whoever waits for the old end', () => {
    expect(explore(lifting(true), { preemptions: 3 }).ends).toBeGreaterThan(20);
  });

  it('would leave somebody waiting who does not look again', () => {
    expect(() => explore(lifting(false), { preemptions: 3 })).toThrow(/schedule: /);
  });
});
