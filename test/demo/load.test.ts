import { describe, expect, it } from 'vitest';
import { type Arrival, planArrivals } from '../../demo/load/arrivals.js';
import { createRandom } from '../../demo/load/random.js';
import { cumulate, pickIndex, zipfShares } from '../../demo/load/zipf.js';

describe('zipfShares', () => {
  it('sums to 1 and gives rank k one k-th of rank 1', () => {
    const shares = zipfShares(40);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    expect(shares[0]).toBeCloseTo((shares[3] ?? 0) * 4, 12);
  });
});

describe('pickIndex', () => {
  it('finds the stretch that holds the point, its lower end included', () => {
    const sums = cumulate([2, 3, 5]);
    expect([0, 1.9, 2, 4.9, 5, 9.9].map((point) => pickIndex(sums, point))).toEqual([
      0, 0, 1, 1, 2, 2,
    ]);
  });

  it('never picks an index of rate zero', () => {
    expect(pickIndex(cumulate([0, 1]), 0)).toBe(1);
  });
});

describe('planArrivals', () => {
  const phases = [
    { untilMs: 10_000, ratesPerSecond: [100, 50, 50] },
    { untilMs: 20_000, ratesPerSecond: [800, 50, 50] },
    { untilMs: 40_000, ratesPerSecond: [100, 50, 50] },
  ];
  const plan = (seed: number, share = 1) => [...planArrivals(phases, share, 2, createRandom(seed))];
  const count = (arrivals: Arrival[], fromMs: number, toMs: number, tableIndex: number) =>
    arrivals.filter(
      (arrival) =>
        arrival.atMs >= fromMs && arrival.atMs < toMs && arrival.tableIndex === tableIndex,
    ).length;

  it('is the same for the same seed and another for another', () => {
    expect(plan(1)).toEqual(plan(1));
    expect(plan(1)[0]).not.toEqual(plan(2)[0]);
  });

  it('is in order of time and ends with the last phase', () => {
    const times = plan(1).map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((left, right) => left - right));
    expect(times.at(-1)).toBeLessThan(40_000);
  });

  it('keeps each table to the rate of its phase', () => {
    const arrivals = plan(1);
    // Within 5 standard deviations of a Poisson count.
    for (const [fromMs, toMs, tableIndex, expected] of [
      [0, 10_000, 0, 1000],
      [10_000, 20_000, 0, 8000],
      [20_000, 40_000, 0, 2000],
      [0, 40_000, 1, 2000],
    ] as const) {
      const got = count(arrivals, fromMs, toMs, tableIndex);
      expect(Math.abs(got - expected)).toBeLessThan(5 * Math.sqrt(expected));
    }
  });

  it('halves with the share, and uses all RPC types', () => {
    const half = plan(1, 0.5);
    expect(Math.abs(half.length - 7500)).toBeLessThan(5 * Math.sqrt(7500));
    const first = half.filter(({ rpcIndex }) => rpcIndex === 0).length;
    expect(first / half.length).toBeCloseTo(0.5, 1);
    expect(half.every(({ rpcIndex }) => rpcIndex === 0 || rpcIndex === 1)).toBe(true);
  });
});
