import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeadlineHeap } from '../../src/workers/deadline-heap.js';

interface Item {
  readonly deadlineNs: number;
  done: boolean;
}

type Step =
  | { readonly kind: 'push'; readonly at: number }
  | { readonly kind: 'withdraw' | 'peek'; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('push' as const), at: fc.nat({ max: 50 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('withdraw' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('peek' as const), which: fc.nat() }) },
);

describe('DeadlineHeap', () => {
  it('shows the earliest of those that still wait, as a sorted list does', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: 'max' }), (steps) => {
        const heap = new DeadlineHeap<Item>();
        const waiting: Item[] = [];
        for (const next of steps) {
          if (next.kind === 'push') {
            const item = { deadlineNs: next.at, done: false };
            heap.push(item);
            waiting.push(item);
          } else if (next.kind === 'withdraw' && waiting.length > 0) {
            const [item] = waiting.splice(next.which % waiting.length, 1);
            (item as Item).done = true;
            heap.withdrawn();
          }
          const earliest = waiting.reduce(
            (least, { deadlineNs }) => Math.min(least, deadlineNs),
            Number.POSITIVE_INFINITY,
          );
          const top = heap.peek();
          const right = (top?.deadlineNs ?? Number.POSITIVE_INFINITY) === earliest && !top?.done;
          if (!right) expect(top).toEqual({ deadlineNs: earliest, done: false });
        }
      }),
      { numRuns: 100 },
    );
  });

  it('compares few items per step when 50,000 are withdrawn in any order', () => {
    for (const order of ['first', 'last', 'by deadline']) {
      let reads = 0;
      const items = Array.from({ length: 50_000 }, (_, i) => ({
        get deadlineNs() {
          reads += 1;
          return (i * 7919) % 50_021;
        },
        done: false,
      }));
      const heap = new DeadlineHeap<Item>();
      for (const item of items) heap.push(item);
      const leaving = order === 'last' ? items.toReversed() : [...items];
      if (order === 'by deadline') leaving.sort((a, b) => a.deadlineNs - b.deadlineNs);
      reads = 0;
      for (const item of leaving) {
        item.done = true;
        heap.withdrawn();
        heap.peek();
      }
      expect(heap.peek()).toBeUndefined();
      expect(reads / items.length).toBeLessThan(100);
    }
  });
});
