import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Arena } from '../../../src/shared/arena.js';
import { BUCKET_SLOTS, CELL, CLOCK_WORD, STATE_WORD } from '../../../src/shared/kernel/port.js';
import { MAX_SPAN_NS } from '../../../src/shared/quota.js';
import { bothKernels, bucketPlace, strictPlace } from '../both-kernels.js';

const YEAR_NS = 365 * 86_400e9;

/** Whatever a limiter may hand to its kernel. */
const nowNs = fc.oneof(
  fc.double({ min: 0, max: 10e9, noNaN: true }),
  fc.double({ min: 0, max: 7 * YEAR_NS, noNaN: true }),
  fc.nat({ max: 1000 }),
);
const weight = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.integer({ min: 1, max: 1e12 }),
  // Times 1e9 ns, and times 2^25 ns, it is little more than 2^64.
  fc.constantFrom(18_446_744_074, 2 ** 39),
);
const maxWaitNs = fc.oneof(
  fc.constant(Number.POSITIVE_INFINITY),
  fc.constant(0),
  fc.double({ min: 0, max: 1e12, noNaN: true }),
);
const terms = fc
  .record({
    intervalNs: fc.oneof(
      fc.constantFrom(0, 1e9, 2 ** 25),
      fc.integer({ min: 1, max: 1e9 }),
      fc.integer({ min: 1, max: MAX_SPAN_NS }),
    ),
    tokens: fc.integer({ min: 1, max: 1e6 }),
  })
  .map(({ intervalNs, tokens }) => {
    const burst =
      intervalNs === 0 ? tokens : Math.min(tokens, Math.floor(MAX_SPAN_NS / intervalNs));
    return { intervalNs, burst, tauNs: burst * intervalNs, qps: 1e9 / Math.max(intervalNs, 1) };
  });
const reset = fc.integer({ min: 0, max: 1 });

type Op = (arena: Arena) => unknown;

const named = <T>(
  name: string,
  inputs: fc.Arbitrary<T>,
  run: (arena: Arena, inputs: T) => unknown,
): fc.Arbitrary<Op> =>
  inputs.map((given) =>
    Object.assign((arena: Arena) => run(arena, given), {
      [fc.toStringMethod]: () => `${name}(${fc.stringify(given)})`,
    }),
  );

const bucketOps = [
  named('tryAcquire', fc.tuple(nowNs, weight), (arena, [now, n]) => {
    const { bucket, stats } = bucketPlace(arena);
    return arena.kernel.tryAcquire(bucket, stats, now, n);
  }),
  named('tryAcquireCoarse', fc.constant(null), (arena) => {
    const { bucket, stats } = bucketPlace(arena);
    return arena.kernel.tryAcquireCoarse(bucket, stats);
  }),
  named('reserve', fc.tuple(nowNs, weight, maxWaitNs), (arena, [now, n, wait]) => {
    const { bucket, stats, scratch } = bucketPlace(arena);
    return arena.kernel.reserve(bucket, stats, scratch, now, n, wait);
  }),
  named('hold', fc.tuple(nowNs, weight), (arena, [now, n]) => {
    const { bucket, stats, scratch } = bucketPlace(arena);
    return arena.kernel.hold(bucket, stats, scratch, now, n);
  }),
  named('giveBack', fc.tuple(nowNs, weight), (arena, [now, n]) => {
    const { bucket, stats, scratch } = bucketPlace(arena);
    return arena.kernel.giveBack(bucket, stats, scratch, now, n);
  }),
  named('refund', weight, (arena, n) => arena.kernel.refund(bucketPlace(arena).bucket, n)),
  named('available', nowNs, (arena, now) => arena.kernel.available(bucketPlace(arena).bucket, now)),
  named('configure', fc.tuple(nowNs, terms, reset), (arena, [now, to, fresh]) =>
    arena.kernel.configure(
      bucketPlace(arena).bucket,
      now,
      to.intervalNs,
      to.tauNs,
      to.qps,
      to.burst,
      fresh,
    ),
  ),
];

const cellOps = [
  named('enter', fc.constant(null), (arena) => arena.kernel.enter(strictPlace(arena).cell)),
  named('strictReserve', fc.tuple(nowNs, maxWaitNs), (arena, [now, wait]) => {
    const { cell, stats, scratch } = strictPlace(arena);
    return arena.kernel.strictReserve(cell, stats, scratch, now, wait);
  }),
  named('strictGiveBack', fc.constant(null), (arena) => {
    const { cell, stats, scratch } = strictPlace(arena);
    return arena.kernel.strictGiveBack(cell, stats, scratch);
  }),
  named('strictConfigure', fc.tuple(nowNs, terms, reset), (arena, [now, to, fresh]) =>
    arena.kernel.strictConfigure(strictPlace(arena).cell, now, to.intervalNs, to.qps, fresh),
  ),
];

const clockOps = [
  named('publishClock', nowNs, (arena, now) => arena.kernel.publishClock(now)),
  named('clock', fc.constant(null), (arena) => arena.kernel.clock()),
  named('retireClock', fc.boolean(), (arena, current) =>
    arena.kernel.retireClock(current ? arena.kernel.clock() : 12_345),
  ),
  named('addLoop', fc.nat({ max: 5 }), (arena, n) => arena.kernel.addLoop(192, n)),
];

const close = named('close', fc.constant(null), (arena) => arena.kernel.close());

/** All that a kernel writes, but for what one of them keeps for itself between a bucket's word and its slots. */
function wordsOf(arena: Arena): unknown[] {
  const { bucket, stats, scratch } = bucketPlace(arena);
  const { cell, stats: cellStats } = strictPlace(arena);
  const words = (offset: number, count: number): bigint[] =>
    Array.from({ length: count }, (_, i) => arena.u64[(offset >>> 3) + i] as bigint);
  return [
    words(STATE_WORD, 1),
    words(CLOCK_WORD, 1),
    words(192, 1),
    words(bucket, 1),
    words(bucket + BUCKET_SLOTS, 64),
    words(stats, 8),
    words(scratch, 2),
    words(cell, (CELL.SLOTS + 64) / 8),
    words(cellStats, 8),
  ];
}

describe('the WebAssembly kernel and its twin', () => {
  const [wasm, twin] = bothKernels().map(({ fresh }) => fresh) as [() => Arena, () => Arena];

  const agreeOn = (ops: fc.Arbitrary<Op[]>): void => {
    fc.assert(
      fc.property(ops, (steps) => {
        const arenas = [wasm(), twin()] as const;
        for (const step of steps) {
          const [a, b] = arenas.map((arena) => step(arena));
          expect(a).toBe(b);
          expect(wordsOf(arenas[0])).toEqual(wordsOf(arenas[1]));
        }
      }),
      { numRuns: 300 },
    );
  };

  it('give the same answers and leave the same words: buckets', () => {
    agreeOn(fc.array(fc.oneof(...bucketOps), { maxLength: 40 }));
  });

  it('give the same answers and leave the same words: strict limiters', () => {
    agreeOn(fc.array(fc.oneof(...cellOps), { maxLength: 40 }));
  });

  it('give the same answers and leave the same words: everything, closed at some moment', () => {
    agreeOn(
      fc.array(
        fc.oneof(
          { weight: 5, arbitrary: fc.oneof(...bucketOps) },
          { weight: 5, arbitrary: fc.oneof(...clockOps) },
          { weight: 1, arbitrary: close },
        ),
        { maxLength: 40 },
      ),
    );
  });
});
