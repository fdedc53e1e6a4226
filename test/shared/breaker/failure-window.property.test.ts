import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countOutcome,
  countWindow,
  MAX_SLOT_COUNT,
  periodOf,
  slotOf,
  WINDOW_SLOTS,
  type WindowSlot,
} from '../../../src/shared/breaker/failure-window.js';

const WINDOW_MS = 700;
const PERIOD_MS = WINDOW_MS / WINDOW_SLOTS;

/** Gaps from none to days: within a slot, over slots, over many windows. */
const gap = fc.oneof(fc.constant(0), fc.nat(150), fc.nat(3000), fc.nat(200_000_000));
const outcome = fc.record({ gap, failed: fc.boolean() });

describe('the failure window', () => {
  it('counts exactly what happened in its last slots, after any pause', () => {
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 100, size: 'max' }), (outcomes) => {
        const slots: (WindowSlot | undefined)[] = [];
        const happened: { atMs: number; failed: boolean }[] = [];
        let nowMs = 0;
        for (const { gap, failed } of outcomes) {
          nowMs += gap;
          const period = periodOf(nowMs, WINDOW_MS);
          slots[slotOf(period)] = countOutcome(slots[slotOf(period)], period, failed);
          happened.push({ atMs: nowMs, failed });
          const from = (Math.floor(nowMs / PERIOD_MS) - WINDOW_SLOTS + 1) * PERIOD_MS;
          const within = happened.filter(({ atMs }) => atMs >= from);
          expect(countWindow(slots, period)).toEqual({
            total: within.length,
            failures: within.filter((one) => one.failed).length,
          });
        }
      }),
    );
  });

  it('keeps the rate when a slot is full', () => {
    let slot: WindowSlot | undefined;
    for (let i = 0; i < 3 * MAX_SLOT_COUNT; i += 1) slot = countOutcome(slot, 7, i % 4 === 0);
    expect(slot?.total).toBeLessThanOrEqual(MAX_SLOT_COUNT);
    expect(slot?.total).toBeGreaterThan(MAX_SLOT_COUNT / 4);
    expect((slot?.failures ?? 0) / (slot?.total ?? 1)).toBeCloseTo(0.25, 2);
  });

  it('leaves out what comes too late for its slot', () => {
    const slot = countOutcome(undefined, WINDOW_SLOTS + 1, true);
    expect(countOutcome(slot, 1, true)).toBe(slot);
  });
});
