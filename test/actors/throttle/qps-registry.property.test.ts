import fc from 'fast-check';
import { expect, it } from 'vitest';
import { QpsRegistry } from '../../../src/actors/throttle/qps-registry.js';
import { MemoryPairs } from './memory-pairs.js';

const TABLES = ['1', '2', '3', '4', '5'];

const round = fc.record({
  calls: fc.array(fc.record({ table: fc.constantFrom(...TABLES), n: fc.nat(50) }), {
    maxLength: 6,
  }),
  drop: fc.option(fc.constantFrom(...TABLES), { freq: 8 }),
});

it('agrees with a list of all calls, whatever comes and goes', () => {
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 60 }), (rounds) => {
      const pairs = new MemoryPairs();
      const registry = new QpsRegistry({ capacity: 8, windowMs: 1000, sampleMs: 100 });
      registry.sample(pairs, 0);
      let calls: { atMs: number; table: string; n: number }[] = [];
      for (const [i, { calls: made, drop }] of rounds.entries()) {
        const nowMs = (i + 1) * 100;
        const cell = drop === null ? undefined : pairs.locate('a', drop);
        if (cell !== undefined && drop !== null) {
          pairs.drop(cell.cell, cell.generation);
          calls = calls.filter(({ table }) => table !== drop);
        }
        for (const { table, n } of made) {
          pairs.add('a', table, n);
          calls.push({ atMs: nowMs - 50, table, n });
        }
        registry.sample(pairs, nowMs);
        const windowMs = Math.min(1000, nowMs);
        const rate = (wanted: string): number => {
          const recent = calls.filter(
            ({ atMs, table }) => table === wanted && atMs > nowMs - windowMs,
          );
          return (recent.reduce((sum, { n }) => sum + n, 0) * 1000) / windowMs;
        };
        for (const table of TABLES) {
          const place = pairs.locate('a', table);
          expect(place === undefined ? 0 : registry.qps(place)).toBeCloseTo(rate(table), 6);
        }
        const hottest = registry.hottest(3, [0, 1]).map(({ qps }) => qps);
        const expected = TABLES.map(rate)
          .filter((qps) => qps > 0)
          .sort((a, b) => b - a)
          .slice(0, 3);
        expect(hottest).toHaveLength(expected.length);
        for (const [rank, qps] of hottest.entries())
          expect(qps).toBeCloseTo(expected[rank] as number, 6);
      }
    }),
  );
});
