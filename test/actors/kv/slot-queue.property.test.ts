import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dropMember,
  emptySlots,
  enqueueMember,
  releaseMember,
} from '../../../src/actors/kv/slot-queue.js';

const step = fc.record({
  kind: fc.constantFrom('enqueue', 'enqueue', 'release', 'drop'),
  member: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
});

describe('the slot queue', () => {
  it('never gives more than its slots, serves first come first, and leaves no slot free while one waits', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        (steps, slots) => {
          let queue = emptySlots<string>(slots);
          for (const { kind, member } of steps) {
            const before = queue;
            const change =
              kind === 'enqueue' ? enqueueMember : kind === 'release' ? releaseMember : dropMember;
            const { queue: after, granted } = change(queue, member);
            queue = after;
            expect(queue.running.length).toBeLessThanOrEqual(slots);
            expect(new Set(queue.running).size).toBe(queue.running.length);
            const order = [...before.waiting, member];
            expect([...granted].sort((a, b) => order.indexOf(a) - order.indexOf(b))).toEqual(
              granted,
            );
            if (queue.running.length < slots) {
              expect(queue.waiting.every((one) => queue.running.includes(one))).toBe(true);
            }
            if (kind === 'drop') expect(queue.waiting).not.toContain(member);
          }
        },
      ),
    );
  });

  it('refuses no slots', () => {
    expect(() => emptySlots(0)).toThrow('slots must be an integer >= 1, got 0');
  });
});
