import { describe, expect, it } from 'vitest';
import { CELL_BYTES, CELL_FIELD } from '../../src/shared/directory/cell.js';
import { CELL_STATE, stateOf } from '../../src/shared/directory/cell-life.js';
import { DirectoryArena } from '../../src/shared/directory/directory-arena.js';
import { directoryLayout } from '../../src/shared/directory/directory-layout.js';
import { firstTable } from '../../src/shared/directory/directory-phase.js';
import { DirectoryKeeper } from '../../src/shared/directory-keeper.js';
import { KeyDirectory, keyDirectoryBytes } from '../../src/shared/key-directory.js';
import { QuiescenceWords, quiescenceBytes } from '../../src/shared/quiescence.js';
import { explore, type Scenario } from '../interleaving/explorer.js';
import type { Body, SteppedAtomics, Visible } from '../interleaving/stepped-thread.js';

const THREADS = 3;
const QUIESCENCE = 0;
const BASE = 128;
const never = (): boolean => false;

/** A directory that several explored threads share, with what to check of it. */
class Arena {
  readonly buffer: SharedArrayBuffer;
  readonly directory: KeyDirectory;
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
    expect(quiescenceBytes(THREADS)).toBeLessThanOrEqual(BASE);
    this.buffer = new SharedArrayBuffer(BASE + keyDirectoryBytes(capacity));
    this.directory = this.open(Atomics);
  }

  open(atomics: SteppedAtomics): KeyDirectory {
    return new KeyDirectory(this.buffer, BASE, this.#capacity, atomics);
  }

  quiescence(atomics: SteppedAtomics): QuiescenceWords {
    return new QuiescenceWords(this.buffer, QUIESCENCE, THREADS, atomics);
  }

  keeper(atomics: SteppedAtomics): DirectoryKeeper {
    const quiescence = this.quiescence(atomics);
    return new DirectoryKeeper(this.buffer, BASE, this.#capacity, quiescence, atomics);
  }

  /** A keeper that has done its first sweep. */
  settledKeeper(atomics: SteppedAtomics): DirectoryKeeper {
    const keeper = this.keeper(atomics);
    keeper.maintain();
    return keeper;
  }

  /** Explored threads that the keeper must wait for before it reuses memory. */
  attach(...threads: number[]): void {
    for (const thread of threads) this.quiescence(Atomics).pass(thread);
  }

  index(key: string): number {
    return this.directory.indexOf(this.directory.find(0, key));
  }

  /**
   * Every word but a cell's key block and what belongs to the limiter, which have one owner at a time, and the hints by
   * which a free cell is found, which only decide where the claim is tried.
   */
  readonly visible: Visible = (words, index) =>
    !this.#isHint(index * words.BYTES_PER_ELEMENT) && this.pool(words, index);

  #isHint(byte: number): boolean {
    const { releases, fullAt, hint, bits, bitWords } = directoryLayout(BASE, this.#capacity);
    const word = byte / 4;
    return (
      word === releases ||
      word === fullAt ||
      word === hint ||
      (word >= bits && word < bits + bitWords)
    );
  }

  /** The same with the hints. */
  readonly pool: Visible = (words, index) => {
    const byte = index * words.BYTES_PER_ELEMENT;
    const first = this.directory.cellAt(0);
    if (byte < first || byte >= first + this.#capacity * CELL_BYTES) return true;
    const field = (byte - first) % CELL_BYTES;
    return field === CELL_FIELD.GENERATION || field === CELL_FIELD.CLAIM;
  };

  /** At most one cell per key is alive, the condemned among them. */
  readonly check = (): void => {
    const keys = new Set<string>();
    for (let index = 0; index < this.#capacity; index++) {
      const cell = this.directory.cellAt(index);
      const state = stateOf(this.directory.generationOf(cell));
      if (state !== CELL_STATE.LIVE && state !== CELL_STATE.CONDEMNED) continue;
      const { key } = this.directory.describe(cell);
      if (keys.has(key)) throw new Error(`two live cells for ${key}`);
      keys.add(key);
    }
  };

  /** Every live cell is found by its key, and a new keeper brings back whatever was leaked. */
  checkEnd(): void {
    this.check();
    const live = new Map<string, number>();
    this.directory.visit((index) => {
      live.set(this.directory.describe(this.directory.cellAt(index)).key, index);
    });
    for (const [key, index] of live) expect(this.index(key)).toBe(index);
    for (let thread = 0; thread < THREADS; thread++) this.quiescence(Atomics).leave(thread);
    const keeper = this.keeper(Atomics);
    for (let i = 0; keeper.maintain() !== 'idle'; i++) expect(i).toBeLessThan(100);
    let after = 0;
    this.directory.visit((index) => {
      after++;
      const { key } = this.directory.describe(this.directory.cellAt(index));
      // A published cell whose owner died before its first use has come alive.
      if (live.has(key)) expect(live.get(key)).toBe(index);
      expect(this.index(key)).toBe(index);
    });
    expect(after).toBeGreaterThanOrEqual(live.size);
    expect(this.directory.use().used).toBe(after);
    this.check();
    // No slot is left over from a cell that was given back.
    expect(this.#entries()).toBe(after);
  }

  #entries(): number {
    const { phase, slots, tables } = directoryLayout(BASE, this.#capacity);
    const words = new Int32Array(this.buffer, 0, this.buffer.byteLength >>> 2);
    const first = tables[firstTable(words[phase] as number) as 0 | 1];
    return words.subarray(first, first + slots).filter((entry) => entry > 0).length;
  }
}

const insert =
  (arena: Arena, key: string): Body =>
  (atomics) =>
    arena.open(atomics).findOrInsert(0, key);

function scenario(
  capacity: number,
  prepare: (arena: Arena) => Omit<Scenario, 'buffer' | 'check'>,
): () => Scenario {
  return () => {
    const arena = new Arena(capacity);
    const { checkEnd, ...rest } = prepare(arena);
    return {
      buffer: arena.buffer,
      visible: arena.visible,
      check: arena.check,
      ...rest,
      checkEnd(results) {
        checkEnd?.(results);
        arena.checkEnd();
      },
    };
  };
}

/** An atomics whose compare-and-swap is a load and a store, as a careless port would have it. */
const torn = (atomics: SteppedAtomics): SteppedAtomics => ({
  ...atomics,
  compareExchange: ((words: Int32Array, index: number, expected: number, next: number) => {
    const seen = atomics.load(words, index);
    if (seen === expected) atomics.store(words, index, next);
    return seen;
  }) as SteppedAtomics['compareExchange'],
});

describe('KeyDirectory, every interleaving', () => {
  it('gives two inserters of one key one cell, one of them killed anywhere', () => {
    const explored = explore(
      scenario(4, (arena) => ({
        threads: [insert(arena, 'a'), insert(arena, 'a')],
        mortal: [0],
        visible: arena.pool,
        checkEnd(results) {
          const cells = results.filter((cell) => cell !== undefined);
          expect(new Set(cells).size).toBe(1);
        },
      })),
    );
    expect(explored.ends).toBeGreaterThan(100);
  });

  it('would give it two if the slot were not published by one compare-and-swap', () => {
    const careless = scenario(4, (arena) => {
      const body: Body = (atomics) => arena.open(torn(atomics)).findOrInsert(0, 'a');
      return { threads: [body, body] };
    });
    expect(() => explore(careless)).toThrow(/two live cells for a|schedule/);
  });

  it('gives three inserters of one key one cell', () => {
    const explored = explore(
      scenario(4, (arena) => ({
        threads: [insert(arena, 'a'), insert(arena, 'a'), insert(arena, 'a')],
        checkEnd(results) {
          expect(new Set(results).size).toBe(1);
        },
      })),
      { preemptions: 2 },
    );
    expect(explored.ends).toBeGreaterThan(100);
  });

  it('never counts a key twice that two threads want while it is removed', () => {
    const explored = explore(
      scenario(4, (arena) => {
        arena.directory.findOrInsert(0, 'a');
        const index = arena.index('a');
        return {
          threads: [
            insert(arena, 'a'),
            insert(arena, 'a'),
            (atomics) => arena.keeper(atomics).remove(index, never),
          ],
        };
      }),
      { preemptions: 3 },
    );
    expect(explored.ends).toBeGreaterThan(100);
  });

  it('inserts one cell during a migration', () => {
    const explored = explore(
      scenario(2, (arena) => ({
        threads: [
          insert(arena, 'a'),
          insert(arena, 'a'),
          (atomics) => {
            const keeper = arena.settledKeeper(atomics);
            keeper.migrate();
            for (let i = 0; i < 3; i++) keeper.maintain();
          },
        ],
        checkEnd(results) {
          expect(results[0]).toBe(results[1]);
        },
      })),
      { preemptions: 2 },
    );
    expect(explored.ends).toBeGreaterThan(100);
  });

  it('inserts one cell during a removal and a migration', () => {
    const explored = explore(
      scenario(3, (arena) => {
        arena.directory.findOrInsert(0, 'a');
        arena.directory.findOrInsert(0, 'b');
        const index = arena.index('a');
        arena.attach(0, 1);
        return {
          threads: [
            insert(arena, 'a'),
            insert(arena, 'a'),
            (atomics) => {
              const keeper = arena.settledKeeper(atomics);
              keeper.migrate();
              keeper.maintain();
              keeper.maintain(3);
              keeper.remove(index, never);
              keeper.maintain();
              keeper.maintain();
            },
          ],
        };
      }),
      { preemptions: 2 },
    );
    expect(explored.ends).toBeGreaterThan(100);
  });

  it('has a successor continue from wherever the keeper was killed', () => {
    const explored = explore(
      scenario(3, (arena) => {
        arena.directory.findOrInsert(0, 'a');
        arena.directory.findOrInsert(0, 'b');
        const index = arena.index('a');
        arena.attach(2);
        return {
          threads: [
            (atomics) => {
              const keeper = arena.settledKeeper(atomics);
              keeper.migrate();
              keeper.maintain();
              keeper.remove(index, never);
              for (let i = 0; i < 4; i++) keeper.maintain();
            },
            (atomics) => {
              const keeper = arena.keeper(atomics);
              for (let i = 0; i < 6; i++) keeper.maintain();
            },
            insert(arena, 'a'),
          ],
          mortal: [0],
          startsAfter: { 1: 0 },
        };
      }),
      { preemptions: 1 },
    );
    expect(explored.ends).toBeGreaterThan(100);
  });

  const reuse = (passes: boolean): (() => Scenario) =>
    scenario(1, (arena) => {
      arena.directory.findOrInsert(0, 'a');
      const index = arena.index('a');
      arena.attach(0, 1);
      const use =
        (thread: number, key: string): Body =>
        (atomics) => {
          const directory = arena.open(atomics);
          const quiescence = arena.quiescence(atomics);
          for (let i = 0; i < 2; i++) {
            const cell = directory.findOrInsert(0, key);
            // Inside one operation what was found stays what it was, dead or alive.
            if (cell !== 0) {
              directory.isLive(cell);
              const { key: found } = directory.describe(cell);
              if (found !== key) throw new Error(`found ${found} for ${key}`);
            }
            if (passes) quiescence.pass(thread);
          }
        };
      return {
        threads: [
          use(0, 'a'),
          use(1, 'b'),
          (atomics) => {
            const keeper = passes
              ? arena.settledKeeper(atomics)
              : new DirectoryKeeper(
                  arena.buffer,
                  BASE,
                  1,
                  { request: () => 1, passed: () => true },
                  atomics,
                );
            keeper.maintain();
            keeper.remove(index, never);
            for (let i = 0; i < 3; i++) keeper.maintain();
          },
        ],
      };
    });

  it('hands a cell to another key only when nobody can still be looking at it', () => {
    const explored = explore(reuse(true), { preemptions: 2 });
    expect(explored.ends).toBeGreaterThan(100);
  });

  it('would confuse keys if it did not wait for quiescent points', () => {
    expect(() => explore(reuse(false), { preemptions: 2 })).toThrow(/found b for a|schedule/);
  });

  it('brings back the cell that a killed thread leaked, while others insert', () => {
    const explored = explore(
      scenario(2, (arena) => {
        arena.attach(0, 2);
        return {
          threads: [
            insert(arena, 'a'),
            (atomics) => {
              arena.quiescence(atomics).leave(0);
              const keeper = arena.keeper(atomics);
              for (let i = 0; i < 4; i++) keeper.maintain();
            },
            (atomics) => {
              arena.open(atomics).findOrInsert(0, 'b');
              arena.quiescence(atomics).pass(2);
              arena.open(atomics).findOrInsert(0, 'a');
            },
          ],
          mortal: [0],
          startsAfter: { 1: 0 },
        };
      }),
      { preemptions: 2 },
    );
    expect(explored.ends).toBeGreaterThan(100);
  });

  it('does not take back a cell that is claimed anew, whatever was noted of the claim before', () => {
    const explored = explore(() => {
      const arena = new Arena(1);
      arena.attach(0);
      return {
        buffer: arena.buffer,
        threads: [
          (atomics) => {
            const { pool } = new DirectoryArena(arena.buffer, BASE, 1, atomics);
            // As an inserter that loses, passes a quiescent point, and is inside its next insert.
            pool.release(pool.claim());
            arena.quiescence(atomics).pass(0);
            return pool.claim();
          },
          (atomics) => {
            const keeper = arena.keeper(atomics);
            for (let i = 0; i < 4; i++) keeper.maintain();
          },
        ],
        checkEnd([claimed]) {
          const { pool } = new DirectoryArena(arena.buffer, BASE, 1, Atomics);
          expect(claimed).toBe(0);
          expect([pool.claimOf(0) & 1, pool.taken()]).toEqual([1, 1]);
        },
      };
    });
    expect(explored.ends).toBeGreaterThan(10);
  });

  it('does not take back a cell whose owner died just after it was published', () => {
    const explored = explore(
      scenario(1, (arena) => {
        arena.attach(0, 2);
        return {
          threads: [
            insert(arena, 'a'),
            (atomics) => {
              const keeper = arena.keeper(atomics);
              for (let i = 0; i < 5; i++) keeper.maintain();
            },
            (atomics) => {
              arena.quiescence(atomics).leave(0);
              arena.quiescence(atomics).pass(2);
              arena.open(atomics).findOrInsert(0, 'b');
            },
          ],
          mortal: [0],
          startsAfter: { 2: 0 },
        };
      }),
      { preemptions: 3 },
    );
    expect(explored.ends).toBeGreaterThan(100);
  });

  it('removes a key to the end although the keeper was killed in the middle', () => {
    const explored = explore(
      scenario(2, (arena) => {
        arena.directory.findOrInsert(0, 'a');
        const index = arena.index('a');
        arena.attach(2);
        return {
          threads: [
            (atomics) => arena.keeper(atomics).remove(index, never),
            (atomics) => {
              const keeper = arena.keeper(atomics);
              for (let i = 0; i < 4; i++) keeper.maintain();
            },
            (atomics) => {
              arena.open(atomics).findOrInsert(0, 'a');
              arena.quiescence(atomics).pass(2);
              arena.open(atomics).findOrInsert(0, 'b');
            },
          ],
          mortal: [0],
          startsAfter: { 1: 0 },
        };
      }),
      { preemptions: 2 },
    );
    expect(explored.ends).toBeGreaterThan(100);
  });
});
