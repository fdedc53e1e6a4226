import { describe, expect, it } from 'vitest';
import { explore, replay, type Scenario, ScheduleError, sample } from './explorer.js';
import type { Body } from './stepped-thread.js';

/** Three takers and one token in word 0. */
function takers(take: (words: Int32Array) => Body): () => Scenario {
  return () => {
    const buffer = new SharedArrayBuffer(64);
    const words = new Int32Array(buffer);
    words[0] = 1;
    return {
      buffer,
      threads: [take(words), take(words), take(words)],
      checkEnd(results) {
        expect(results.filter((granted) => granted === true)).toHaveLength(1);
      },
    };
  };
}

const byLoadAndStore = takers((words) => (atomics) => {
  const tokens = atomics.load(words, 0);
  if (tokens === 0) return false;
  atomics.store(words, 0, tokens - 1);
  return true;
});

const bySwap = takers((words) => (atomics) => {
  for (;;) {
    const tokens = atomics.load(words, 0);
    if (tokens === 0) return false;
    if (atomics.compareExchange(words, 0, tokens, tokens - 1) === tokens) return true;
  }
});

const failureOf = (action: () => unknown): ScheduleError => {
  try {
    action();
  } catch (error) {
    if (error instanceof ScheduleError) return error;
    throw error;
  }
  throw new Error('no schedule failed');
};

describe('explore', () => {
  it('finds the double grant of a load and a store', () => {
    const failure = failureOf(() => explore(byLoadAndStore));
    expect(() => replay(byLoadAndStore, failure.schedule)).toThrow(/length of 1/);
  });

  it('finds it with a single preemption, and not with none', () => {
    expect(failureOf(() => explore(byLoadAndStore, { preemptions: 1 })).schedule).toMatch(/^\d/);
    expect(() => explore(byLoadAndStore, { preemptions: 0 })).not.toThrow();
  });

  it('finds it by random schedules', () => {
    const failure = failureOf(() => sample(byLoadAndStore, { runs: 1000, seed: 7 }));
    expect(failure.message).toMatch(/seed 7, run \d+/);
    expect(() => replay(byLoadAndStore, failure.schedule)).toThrow();
  });

  it('passes the compare-and-swap in every order', () => {
    const { states, ends } = explore(bySwap);
    expect(ends).toBeGreaterThan(3);
    expect(states).toBeGreaterThan(50);
    expect(() => sample(bySwap, { runs: 200, seed: 7 })).not.toThrow();
  });

  it('sees the orders of a store buffer test that sequential consistency allows, and no other', () => {
    const outcomes = new Set<string>();
    const words = new Int32Array(new SharedArrayBuffer(64));
    explore(() => ({
      buffer: words.buffer as SharedArrayBuffer,
      threads: [
        (atomics) => {
          atomics.store(words, 0, 1);
          return atomics.load(words, 1);
        },
        (atomics) => {
          atomics.store(words, 1, 1);
          return atomics.load(words, 0);
        },
      ],
      checkEnd: (results) => outcomes.add(results.join()),
    }));
    expect(outcomes).toEqual(new Set(['0,1', '1,0', '1,1']));
  });

  it('kills a thread before each of its steps', () => {
    const reached = new Set<number>();
    const words = new Int32Array(new SharedArrayBuffer(64));
    explore(() => ({
      buffer: words.buffer as SharedArrayBuffer,
      threads: [
        (atomics) => {
          for (let i = 1; i <= 4; i++) atomics.store(words, 0, i);
        },
      ],
      mortal: [0],
      checkEnd: () => reached.add(words[0] as number),
    }));
    expect(reached).toEqual(new Set([0, 1, 2, 3, 4]));
  });

  it('undoes the plain writes of what it runs again', () => {
    const words = new Int32Array(new SharedArrayBuffer(64));
    const counter: Body = (atomics) => {
      for (let i = 0; i < 3; i++) {
        atomics.add(words, 0, 1);
        words[8] = (words[8] as number) + 1;
      }
    };
    explore(() => ({
      buffer: words.buffer as SharedArrayBuffer,
      threads: [counter, (atomics) => atomics.add(words, 0, 10)],
      checkEnd: () => expect([words[0], words[8]]).toEqual([13, 3]),
    }));
  });

  it('repeats the plain reads of a moment when it is asked to', () => {
    const words = new Int32Array(new SharedArrayBuffer(64));
    const seen = new Set<string>();
    explore(() => ({
      buffer: words.buffer as SharedArrayBuffer,
      plainReads: true,
      threads: [
        (atomics) => {
          atomics.load(words, 8);
          const before = words[0] as number;
          atomics.store(words, 9, before);
          atomics.load(words, 8);
          const after = words[0] as number;
          atomics.store(words, 9, after);
          return `${before} ${after}`;
        },
        (atomics) => {
          for (let i = 1; i <= 2; i++) atomics.store(words, 0, i);
        },
      ],
      checkEnd: ([reads]) => seen.add(reads as string),
    }));
    expect(seen).toEqual(new Set(['0 0', '0 1', '0 2', '1 1', '1 2', '2 2']));
  });

  it('says so when the code does not depend on its atomics alone', () => {
    const words = new Int32Array(new SharedArrayBuffer(64));
    let calls = 0;
    const fickle: Body = (atomics) => {
      atomics.load(words, calls++ % 2);
      atomics.load(words, 0);
    };
    const buffer = words.buffer as SharedArrayBuffer;
    expect(() => explore(() => ({ buffer, threads: [fickle] }))).toThrow(/not deterministic/);
  });

  it('gives up with an error, not in silence', () => {
    expect(() => explore(bySwap, { maxStates: 10 })).toThrow('more than 10 states');
  });
});
