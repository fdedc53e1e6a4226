import { describe, expect, it } from 'vitest';
import { MAX_TICK, TimingWheel } from '../../../src/actors/timer/timing-wheel.js';

describe('a timing wheel', () => {
  it('fires a timer at its tick and not before', () => {
    const wheel = new TimingWheel<string>();
    wheel.schedule(3000, 'x');
    expect(wheel.advance(2999)).toEqual([]);
    expect(wheel.advance(1)).toEqual(['x']);
    expect(wheel.size).toBe(0);
  });

  it('fires what is due now, or was before, at the next advance, even of no ticks', () => {
    const wheel = new TimingWheel<string>(100);
    wheel.schedule(100, 'now');
    wheel.schedule(40, 'overdue');
    expect(wheel.nextDeadline()).toBe(100);
    expect(wheel.advance(0)).toEqual(['overdue', 'now']);
  });

  it('fires timers of one tick in the order that they were scheduled, from near or far', () => {
    const wheel = new TimingWheel<string>();
    wheel.schedule(2000, 'from far');
    wheel.advance(1990);
    wheel.schedule(2000, 'from near');
    expect(wheel.advance(10)).toEqual(['from far', 'from near']);
  });

  it('takes any deadline up to 2^53 - 1 and any jump', () => {
    const wheel = new TimingWheel<number>();
    const deadlines = [1, 31, 32, 1023, 1024, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 7, 2 ** 45, MAX_TICK];
    for (const deadline of [...deadlines].reverse()) wheel.schedule(deadline, deadline);
    for (const deadline of deadlines) {
      expect(wheel.nextDeadline()).toBe(deadline);
      expect(wheel.advance(deadline - wheel.now - 1)).toEqual([]);
      expect(wheel.advance(1)).toEqual([deadline]);
    }
    expect(wheel.nextDeadline()).toBeUndefined();
    expect(wheel.advance(MAX_TICK)).toEqual([]);
    expect(wheel.now).toBe(MAX_TICK);
  });

  it('names the next deadline exactly, not just its slot', () => {
    const wheel = new TimingWheel<string>();
    wheel.schedule(40_000, 'later');
    wheel.schedule(35_123, 'sooner');
    expect(wheel.nextDeadline()).toBe(35_123);
  });

  it('cancels once', () => {
    const wheel = new TimingWheel<string>();
    const timer = wheel.schedule(50, 'x');
    expect(wheel.cancel(timer)).toBe(true);
    expect(wheel.cancel(timer)).toBe(false);
    expect(wheel.advance(100)).toEqual([]);
    const fired = wheel.schedule(150, 'y');
    wheel.advance(50);
    expect(wheel.cancel(fired)).toBe(false);
  });

  it('passes an idle year in a step that costs no more than a second', () => {
    const wheel = new TimingWheel<string>();
    wheel.schedule(365 * 86_400_000, 'a year');
    expect(wheel.advance(365 * 86_400_000)).toEqual(['a year']);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    'refuses a tick of %s',
    (tick) => {
      const wheel = new TimingWheel<string>();
      expect(() => wheel.schedule(tick, 'x')).toThrow(RangeError);
      expect(() => new TimingWheel(tick)).toThrow(RangeError);
    },
  );

  it.each([-1, 1.5, Number.NaN])('refuses to advance by %s', (ticks) => {
    expect(() => new TimingWheel<string>().advance(ticks)).toThrow(
      `ticks must be an integer >= 0, got ${ticks}`,
    );
  });
});
