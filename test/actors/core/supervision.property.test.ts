import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decideFailure, resolveSupervision } from '../../../src/actors/core/supervision.js';

it('allows at most maxRestarts restarts in any window, and never fewer than it must', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 }),
      (maxRestarts, withinMs, gaps) => {
        const policy = resolveSupervision({ maxRestarts, withinMs, whenExhausted: 'stop' });
        let restartsAtMs: readonly number[] = [];
        const allowed: number[] = [];
        let nowMs = 0;
        for (const gap of gaps) {
          nowMs += gap;
          const recent = allowed.filter((atMs) => nowMs - atMs < withinMs).length;
          const decision = decideFailure(policy, restartsAtMs, new Error('boom'), nowMs);
          expect(decision.directive).toBe(recent < maxRestarts ? 'restart' : 'stop');
          expect(decision.restartsAtMs.length).toBeLessThanOrEqual(maxRestarts);
          if (decision.directive === 'restart') allowed.push(nowMs);
          restartsAtMs = decision.restartsAtMs;
        }
      },
    ),
  );
});
