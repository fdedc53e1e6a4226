import { describe, expect, it } from 'vitest';
import { BUCKET_BYTES, STATS_BYTES, TakeCode } from '../../src/shared/kernel/port.js';
import { createTwin } from '../../src/shared/kernel/twin.js';
import { explore, type Scenario } from '../interleaving/explorer.js';
import type { Body, SteppedAtomics } from '../interleaving/stepped-thread.js';

const BUCKET = 128;
const STATS = BUCKET + BUCKET_BYTES;
const SECOND = 1e9;

/** A bucket that holds `burst` tokens at time 0 and gains one a second. */
function bucket(burst: number) {
  const buffer = new SharedArrayBuffer(STATS + 4 * STATS_BYTES);
  createTwin(buffer).configure(BUCKET, 0, SECOND, burst * SECOND, 1, burst, 1);
  return buffer;
}

const take =
  (buffer: SharedArrayBuffer, thread: number, nowNs: number): Body =>
  (atomics) => {
    const twin = createTwin(buffer, atomics as never);
    return twin.tryAcquire(BUCKET, STATS + thread * STATS_BYTES, nowNs, 1);
  };

const torn = (atomics: SteppedAtomics): SteppedAtomics => ({
  ...atomics,
  compareExchange: ((words: BigUint64Array, index: number, expected: bigint, next: bigint) => {
    const seen = atomics.load(words, index);
    if (seen === expected) atomics.store(words, index, next);
    return seen;
  }) as SteppedAtomics['compareExchange'],
});

const grants = (results: readonly unknown[]): number =>
  results.filter((code) => code === TakeCode.GRANTED).length;

describe('token bucket on Atomics, every interleaving', () => {
  const oneToken = (port: (atomics: SteppedAtomics) => SteppedAtomics) => (): Scenario => {
    const buffer = bucket(1);
    const taker = (thread: number): Body => {
      const body = take(buffer, thread, SECOND / 2);
      return (atomics) => body(port(atomics));
    };
    return {
      buffer,
      threads: [taker(0), taker(1), taker(2)],
      checkEnd: (results) => expect(grants(results)).toBe(1),
    };
  };

  it('grants one token to one of three takers', () => {
    expect(explore(oneToken((atomics) => atomics)).ends).toBeGreaterThan(2);
  });

  it('would grant it twice by a load and a store', () => {
    expect(() => explore(oneToken(torn))).toThrow(/schedule/);
  });

  it('mints nothing when a taker with an older clock commits last', () => {
    explore(() => {
      const buffer = bucket(1);
      return {
        buffer,
        threads: [
          take(buffer, 0, 9 * SECOND),
          take(buffer, 1, 10 * SECOND),
          take(buffer, 2, 10.5 * SECOND),
        ],
        checkEnd: (results) => expect(grants(results)).toBeLessThanOrEqual(2),
      };
    });
  });
});
