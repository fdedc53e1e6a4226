import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TimingWheel, type WheelTimer } from '../../../src/actors/timer/timing-wheel.js';

interface ModelTimer {
  readonly id: number;
  readonly deadline: number;
}

/** Distances that reach every level, and the edges between them. */
const distance = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 2000 }),
  fc.maxSafeInteger().map((n) => Math.abs(n) % 2 ** 44),
  fc
    .tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: -2, max: 2 }))
    .map(([level, off]) => Math.max(0, 32 ** level + off)),
);

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('schedule' as const), distance }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), distance }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('next' as const) }) },
);

it('fires exactly what a sorted list fires, in the same order, and never sleeps past a deadline', () => {
  fc.assert(
    fc.property(fc.nat(10_000_000), fc.array(step, { maxLength: 120 }), (start, steps) => {
      const wheel = new TimingWheel<number>(start);
      const handles = new Map<number, WheelTimer<number>>();
      let model: ModelTimer[] = [];
      let id = 0;
      const advance = (ticks: number): void => {
        const target = wheel.now + ticks;
        const due = model
          .filter(({ deadline }) => deadline <= target)
          .sort((a, b) => a.deadline - b.deadline || a.id - b.id);
        expect(wheel.advance(ticks)).toEqual(due.map((timer) => timer.id));
        model = model.filter(({ deadline }) => deadline > target);
        expect(wheel.now).toBe(target);
        expect(wheel.size).toBe(model.length);
      };
      for (const one of steps) {
        if (one.kind === 'schedule') {
          const deadline = wheel.now + one.distance;
          handles.set(id, wheel.schedule(deadline, id));
          model.push({ id, deadline });
          id += 1;
        } else if (one.kind === 'cancel' && id > 0) {
          const picked = one.pick % id;
          const waits = model.some((timer) => timer.id === picked);
          expect(wheel.cancel(handles.get(picked) as WheelTimer<number>)).toBe(waits);
          model = model.filter((timer) => timer.id !== picked);
        } else if (one.kind === 'advance') {
          advance(one.distance);
        } else {
          const next = wheel.nextDeadline();
          if (model.length === 0) expect(next).toBeUndefined();
          else {
            const first = Math.min(...model.map(({ deadline }) => deadline));
            expect(next).toBeLessThanOrEqual(Math.max(first, wheel.now));
            advance(Math.max(0, (next as number) - wheel.now));
          }
        }
      }
      // Sleeping from deadline to deadline, as the timer actor does, comes to an end and misses none.
      for (let rounds = 0; model.length > 0; rounds += 1) {
        expect(rounds).toBeLessThan(2000);
        advance(Math.max(0, (wheel.nextDeadline() as number) - wheel.now));
      }
      expect(wheel.nextDeadline()).toBeUndefined();
    }),
    { numRuns: 300 },
  );
});

it('without cancellations every wake-up fires something', () => {
  fc.assert(
    fc.property(fc.array(distance, { minLength: 1, maxLength: 60 }), (distances) => {
      const wheel = new TimingWheel<number>();
      for (const deadline of distances) wheel.schedule(deadline, deadline);
      let wakeUps = 0;
      for (let next = wheel.nextDeadline(); next !== undefined; next = wheel.nextDeadline()) {
        expect(wheel.advance(next - wheel.now)).not.toEqual([]);
        wakeUps += 1;
      }
      expect(wakeUps).toBe(new Set(distances).size);
    }),
  );
});
