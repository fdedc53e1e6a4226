import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import { HEADER } from '../../src/shared/layout.js';
import { CoarseTicker } from '../../src/workers/coarse-ticker.js';
import { bothKernels } from '../shared/both-kernels.js';

describe.each(bothKernels())('coarse ticker on the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  let now: number;
  let ticker: CoarseTicker;

  beforeEach(() => {
    vi.useFakeTimers();
    arena = fresh();
    now = 5e6;
    ticker = new CoarseTicker(arena, { nowNs: () => now });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A turn of the loop, `ms` after the last one. */
  const turn = (ms: number): void => {
    now += ms * 1e6;
    vi.advanceTimersByTime(1);
  };
  const maxLagMs = (): number => (arena.f64[HEADER.MAX_LAG >>> 3] as number) / 1e6;

  it('publishes at once, and each millisecond from then on', () => {
    ticker.run(true);
    expect(arena.kernel.clock()).toBe(5e6);
    turn(1);
    expect(arena.kernel.clock()).toBe(6e6);
  });

  it('notes the longest time that the published one stood still', () => {
    ticker.run(true);
    for (const ms of [1, 7.5, 2]) turn(ms);
    expect(maxLagMs()).toBe(7.5);
  });

  it('ticks once, however often it is wanted', () => {
    ticker.run(true);
    ticker.run(true);
    expect(vi.getTimerCount()).toBe(1);
  });

  it('takes the clock away when it is not wanted any more, and leaves no timer', () => {
    ticker.run(true);
    turn(1);
    ticker.run(false);
    ticker.run(false);
    expect([arena.kernel.clock(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('counts no lag for the time in which it was not wanted', () => {
    ticker.run(true);
    turn(1);
    ticker.run(false);
    now += 60e9;
    ticker.run(true);
    turn(1);
    expect(maxLagMs()).toBe(1);
    expect(arena.kernel.clock()).toBe(now);
    ticker.run(false);
  });
});
