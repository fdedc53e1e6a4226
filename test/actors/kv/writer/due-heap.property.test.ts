import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Due, DueHeap } from '../../../../src/actors/kv/writer/due-heap.js';

const step = fc.record({ entry: fc.nat(9), dueMs: fc.nat(20), remove: fc.boolean() });

describe('the heap of what is due', () => {
  it('has the earliest at its top, whatever is put in, moved and taken out', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const heap = new DueHeap<Due>();
        const entries = Array.from({ length: 10 }, (): Due => ({ dueMs: 0, heapIndex: -1 }));
        const inside = new Map<Due, number>();
        for (const { entry, dueMs, remove } of steps) {
          const one = entries[entry] as Due;
          if (remove) {
            heap.remove(one);
            inside.delete(one);
          } else {
            heap.set(one, dueMs);
            inside.set(one, dueMs);
          }
          expect(heap.size).toBe(inside.size);
          const top = heap.peek();
          expect(top === undefined ? undefined : inside.get(top)).toBe(
            inside.size === 0 ? undefined : Math.min(...inside.values()),
          );
        }
      }),
    );
  });
});
