import { expect, it } from 'vitest';
import { noDeadLetters } from '../../src/actors/core/dead-letter.js';
import type { SystemStats } from '../../src/actors/core/system-stats.js';
import { ACTOR_TOTALS, HEADER, TOTALS } from '../../src/shared/layout.js';
import { ControlTotals } from '../../src/workers/control-totals.js';
import { bothKernels } from '../shared/both-kernels.js';

const stats = (parts: Partial<SystemStats>): SystemStats => ({
  actors: 3,
  timers: 0,
  asks: 0,
  deadLetters: noDeadLetters(),
  failures: 0,
  listenerFailures: 0,
  ...parts,
});

it('goes on from what the predecessor has counted', () => {
  const [kind] = bothKernels();
  const arena = kind!.fresh();
  const read = (offset: number): number => arena.f64[offset >>> 3] as number;
  const actors = () =>
    Object.values(ACTOR_TOTALS).map((total) => read(HEADER.ACTOR_TOTALS + total));

  const first = new ControlTotals(arena);
  const letters = { ...noDeadLetters(), 'dropped-oldest': 2, rejected: 1, 'late-reply': 4 };
  first.publishActors(7e9, stats({ failures: 5, deadLetters: letters }));
  first.countChange('upgrade');
  first.publishCircuits({ probesLost: 1, evicted: 2 });
  expect(actors()).toEqual([5, 3, 4]);
  expect(read(HEADER.CONTROL_SEEN)).toBe(7e9);

  const second = new ControlTotals(arena);
  second.publishActors(9e9, stats({}));
  expect(actors()).toEqual([5, 3, 4]);
  second.publishActors(9e9, stats({ failures: 1, deadLetters: { ...letters, stopped: 1 } }));
  expect(actors()).toEqual([6, 6, 9]);
  expect(second.throttle()).toEqual({ upgrades: 1, downgrades: 0, busy: 0 });
  expect(second.circuits()).toEqual({ probesLost: 1, evicted: 2 });
});

it('leaves no windows of the predecessor standing', () => {
  const [kind] = bothKernels();
  const arena = kind!.fresh();
  const windows = [TOTALS.UPGRADES_60S, TOTALS.DOWNGRADES_60S, TOTALS.BUSY_60S];
  const read = (): unknown[] =>
    windows.map((window) => arena.f64[(HEADER.TOTALS + window * 8) >>> 3]);
  new ControlTotals(arena).publishThrottle({
    upgrades: 2,
    downgrades: 1,
    busy: 300,
    upgrades60s: 2,
    downgrades60s: 1,
    busy60s: 300,
  });
  expect(read()).toEqual([2, 1, 300]);
  expect(new ControlTotals(arena).throttle().busy).toBe(300);
  expect(read()).toEqual([0, 0, 0]);
});
