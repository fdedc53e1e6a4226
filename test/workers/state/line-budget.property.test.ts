import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineBudget } from '../../../src/workers/state/line-budget.js';
import type { LogLevel } from '../../../src/workers/state/logger.js';

describe('the budget of log lines', () => {
  it('lets one line a second through about each subject, and counts what it holds back', () => {
    const budget = new LineBudget();
    expect(budget.take('read', 'info', 0)).toBe(0);
    expect(budget.take('write', 'info', 1)).toBe(0);
    expect(budget.take('read', 'info', 500)).toBeUndefined();
    expect(budget.take('read', 'info', 999.9)).toBeUndefined();
    expect(budget.take('read', 'info', 1000)).toBe(2);
    expect(budget.take('read', 'info', 2000)).toBe(0);
    expect(budget.take('write', 'info', 1000.9)).toBeUndefined();
    expect(budget.settle()).toEqual([{ subject: 'write', lines: 1, level: 'info' }]);
    expect(budget.settle()).toEqual([]);
  });

  it('remembers how severe the worst was that it held back', () => {
    const budget = new LineBudget();
    budget.take('read', 'error', 0);
    budget.take('read', 'info', 1);
    budget.take('read', 'warn', 2);
    budget.take('read', 'debug', 3);
    expect(budget.settle()).toEqual([{ subject: 'read', lines: 3, level: 'warn' }]);
  });

  it('loses no line, and never lets two through within a second, whatever comes when', () => {
    const arrival = fc.record({
      subject: fc.constantFrom('read', 'write', 'config'),
      level: fc.constantFrom<LogLevel>('debug', 'info', 'warn', 'error'),
      afterMs: fc.double({ min: 0, max: 1500, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 200 }), (arrivals) => {
        const budget = new LineBudget();
        const writtenMs = new Map<string, number>();
        let nowMs = 0;
        let lines = 0;
        for (const { subject, level, afterMs } of arrivals) {
          nowMs += afterMs;
          const suppressed = budget.take(subject, level, nowMs);
          if (suppressed === undefined) continue;
          expect(nowMs - (writtenMs.get(subject) ?? -1000)).toBeGreaterThanOrEqual(1000);
          writtenMs.set(subject, nowMs);
          lines += 1 + suppressed;
        }
        for (const heldBack of budget.settle()) lines += heldBack.lines;
        expect(lines).toBe(arrivals.length);
      }),
    );
  });
});
