import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CONFIG, startPlane } from './control-plane-under-test.js';

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('busy' as const),
      count: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('load' as const),
      samples: fc.integer({ min: 1, max: 40 }),
      table: fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1'),
      qps: fc.constantFrom(10, 100, 640),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('stall' as const),
      ms: fc.integer({ min: 1, max: 20_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('crash' as const), lostHistory: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('switch' as const), enabled: fc.boolean() }),
  },
);

it('whatever happens, limits and levels agree, and once BUSY ends every limit is released in time', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let plane = startPlane();
      let { enabled } = CONFIG;
      for (const one of steps) {
        switch (one.kind) {
          case 'busy':
            plane.busy(one.count);
            break;
          case 'load':
            plane.load(plane.time.nowMs + one.samples * 100, { [one.table]: one.qps });
            break;
          case 'stall':
            plane.time.stallTo(plane.time.nowMs + one.ms);
            break;
          case 'fail':
            plane.limits.failures = 1;
            break;
          case 'crash': {
            const { pairs, limits, histories } = plane;
            const history = one.lostHistory ? [] : (histories.at(-1) ?? []);
            plane = startPlane({
              pairs,
              limits,
              config: { ...CONFIG, enabled },
              restored: { history },
            });
            break;
          }
          case 'switch':
            enabled = one.enabled;
            plane.plane.configure({ ...CONFIG, enabled });
            plane.time.settle();
            break;
        }
        if (plane.fatal.length > 0) return;
        const level = plane.events.at(-1)?.level ?? 0;
        if (level === 0) expect(plane.limits.shown).toEqual([]);
        else expect(plane.limits.shown).not.toEqual([]);
      }
      plane.limits.failures = 0;
      const level = plane.events.at(-1)?.level ?? 0;
      plane.time.advanceBy((level + 1) * CONFIG.downgradeIntervalMs);
      expect(plane.limits.shown).toEqual([]);
      expect(plane.events.at(-1)?.level ?? 0).toBe(0);
    }),
    { numRuns: 150 },
  );
});
