import { beforeEach, describe, expect, it } from 'vitest';
import {
  CircuitOpenError,
  type RateLimitExceededError,
  RuntimeClosedError,
} from '../../src/shared/errors.js';
import type { Verdict } from '../../src/shared/verdict.js';
import type { CallOptions } from '../../src/workers/call-options.js';
import type { Gate } from '../../src/workers/gate.js';
import { createVirtualGates, type VirtualGates } from './virtual-gate.js';

let gates: VirtualGates;
let gate: Gate;
let other: Gate;

beforeEach(() => {
  gates = createVirtualGates({
    host: { rpcs: { put: { qpsPerCore: 1000 } } },
    tables: { enabled: true, rpcs: ['put'] },
    waiting: { maxWaitMs: 5000, maxWaiters: 3 },
    breaker: { failureThreshold: 1 },
  });
  gate = gates.gate();
  other = gates.gate();
});

/** What became of calls, with when. */
function follow(name: string, log: string[], call: Promise<unknown>): void {
  call.then(
    () => log.push(`${name} at ${gates.time.nowMs}`),
    (error: unknown) => log.push(`${name} ${(error as Error).name} at ${gates.time.nowMs}`),
  );
}

const put = (options: Partial<CallOptions> = {}, on: Gate = gate): Promise<unknown> =>
  on.call({ rpc: 'put', bucket: 'a', ...options }, () => 'done');

describe('a call of a bucket under pressure', () => {
  it('waits in every thread, and calls of other buckets or of none do not', async () => {
    const log: string[] = [];
    gate.pressure('a').report(0.5);
    follow('mine', log, put());
    follow('other thread', log, put({}, other));
    follow('calm', log, put({ bucket: 'b' }));
    follow(
      'none',
      log,
      gate.call({ rpc: 'put' }, () => 1),
    );
    await gates.time.settleAsync();
    expect(log.toSorted()).toEqual(['calm at 0', 'none at 0']);
    expect(gates.snapshot().pressureTotals).toMatchObject({ open: 1, signals: 1, waiting: 2 });
    // 3000 * 0.5^2
    await gates.time.advanceToAsync(749);
    expect(log).toHaveLength(2);
    await gates.time.advanceToAsync(750);
    expect(log.slice(2).sort()).toEqual(['mine at 750', 'other thread at 750']);
    const { pressureTotals, pressure } = gates.snapshot();
    expect(pressure).toEqual([]);
    expect(pressureTotals).toMatchObject({ open: 0, waiting: 0, wait: { count: 2 } });
    expect(gates.time.nextDeadlineMs).toBeUndefined();
  });

  it('is shown with its pressure and what is left of it', async () => {
    gate.pressure('b').report(1);
    other.pressure('a').report(0.1);
    await gates.time.advanceToAsync(10);
    const shown = gates.snapshot().pressure;
    expect(shown.map(({ bucket }) => bucket)).toEqual(['a', 'b']);
    expect(shown[0]?.pressure).toBeCloseTo(0.1, 4);
    expect(shown[0]?.remainingMs).toBe(20);
    expect(shown[1]).toEqual({ bucket: 'b', pressure: 1, remainingMs: 2990 });
    expect(gate.pressure('b').remainingMs()).toBe(2990);
    expect(gate.pressure('c').remainingMs()).toBe(0);
  });

  it('is refused at once when the window is longer than its patience', async () => {
    gate.pressure('a').report(1);
    const refusal = (await put({ maxWaitMs: 2999 }, other).catch(
      (e) => e,
    )) as RateLimitExceededError;
    expect(refusal).toMatchObject({
      name: 'RateLimitExceededError',
      stage: 'pressure',
      retryAfterMs: 3000,
      bucket: 'a',
    });
    expect(refusal.message).toBe('pressure of bucket a: the wait would be 3000.0 ms');
    expect(gates.snapshot().pressureTotals).toMatchObject({ refused: 1, waiting: 0 });
    const log: string[] = [];
    follow('patient', log, put({ maxWaitMs: 3000 }));
    await gates.time.advanceToAsync(3000);
    expect(log).toEqual(['patient at 3000']);
  });

  it('is refused as soon as the window becomes longer than its patience, and goes on where it has more', async () => {
    const log: string[] = [];
    gate.pressure('a').report(0.5);
    follow('short', log, put({ maxWaitMs: 1000 }));
    follow('long', log, put({ maxWaitMs: 4000 }));
    await gates.time.advanceToAsync(500);
    gate.pressure('a').report(1);
    await gates.time.settleAsync();
    expect(log).toEqual(['short RateLimitExceededError at 500']);
    await gates.time.advanceToAsync(3500);
    expect(log).toEqual(['short RateLimitExceededError at 500', 'long at 3500']);
  });

  it('notices at the old end that another thread has made the window longer', async () => {
    const log: string[] = [];
    gate.pressure('a').report(0.5);
    follow('mine', log, put());
    await gates.time.advanceToAsync(700);
    other.pressure('a').report(0.5);
    await gates.time.advanceToAsync(1449);
    expect(log).toEqual([]);
    await gates.time.advanceToAsync(1450);
    expect(log).toEqual(['mine at 1450']);
  });

  it('goes when the window is lifted or made shorter, in the other threads once they are told', async () => {
    const log: string[] = [];
    gate.pressure('a').report(1);
    follow('mine', log, put());
    follow('other', log, put({}, other));
    await gates.time.advanceToAsync(100);
    gate.pressure('a').report(0.1);
    await gates.time.advanceToAsync(130);
    expect(log).toEqual(['mine at 130']);
    other.refresh();
    await gates.time.settleAsync();
    expect(log).toEqual(['mine at 130', 'other at 130']);
  });

  it('is held up by no more waiters of its bucket than there may be', async () => {
    const log: string[] = [];
    gate.pressure('a').report(0.5);
    for (const name of ['1', '2', '3', '4']) follow(name, log, put());
    await gates.time.settleAsync();
    expect(log).toEqual(['4 RateLimitExceededError at 0']);
    await expect(put()).rejects.toMatchObject({ stage: 'queue', retryAfterMs: 750 });
    await expect(put({ bucket: 'b' })).resolves.toBe('done');
    await gates.time.advanceToAsync(750);
    expect(log).toHaveLength(4);
  });

  it('leaves at once when it is aborted, and no timer stays', async () => {
    const controller = new AbortController();
    gate.pressure('a').report(0.5);
    const call = put({ signal: controller.signal });
    await gates.time.settleAsync();
    controller.abort(new Error('gone'));
    await expect(call).rejects.toThrow('gone');
    expect(gates.time.nextDeadlineMs).toBeUndefined();
    expect(gates.snapshot().pressureTotals.waiting).toBe(0);
    await expect(put({ signal: controller.signal })).rejects.toThrow('gone');
  });

  it('is rejected when the thread leaves', async () => {
    gate.pressure('a').report(1);
    const call = put();
    const wait = gate.pressure('a').wait();
    const window = gate.pressure('a');
    await gates.time.settleAsync();
    gate.detach();
    await expect(call).rejects.toBeInstanceOf(RuntimeClosedError);
    await expect(wait).rejects.toBeInstanceOf(RuntimeClosedError);
    await expect(put()).rejects.toBeInstanceOf(RuntimeClosedError);
    await expect(window.wait()).rejects.toBeInstanceOf(RuntimeClosedError);
    expect(() => window.report(1)).toThrow(RuntimeClosedError);
    expect(() => window.remainingMs()).toThrow(RuntimeClosedError);
    expect(() => gate.pressure('a')).toThrow(RuntimeClosedError);
    expect(gates.time.nextDeadlineMs).toBeUndefined();
  });

  it('is refused by its open circuit first, and holds no permit while it waits', async () => {
    const address = 'peer:1';
    await put({ address, classify: () => 'failure' });
    gate.pressure('a').report(0.5);
    await expect(put({ address })).rejects.toBeInstanceOf(CircuitOpenError);
    expect(gates.snapshot().pressureTotals.waiting).toBe(0);
    const granted = gates.snapshot().rpcs[0]?.granted;
    const call = put();
    await gates.time.settleAsync();
    expect(gates.snapshot().rpcs[0]?.granted).toBe(granted);
    await gates.time.advanceToAsync(750);
    await call;
  });

  it('shares its patience with the stages behind, and says so when it is explained', async () => {
    gate.pressure('a').report(0.5);
    const call = gate.call({ rpc: 'put', bucket: 'a', explain: true }, () => 1);
    await gates.time.advanceToAsync(750);
    const { explanation } = await call;
    expect(explanation.waitedMs).toBe(750);
    expect(explanation.attempts[0]?.stages).toEqual([
      { stage: 'pressure', waitedMs: 750 },
      { stage: 'host', waitedMs: 0 },
    ]);
    gate.pressure('a').report(1);
    const refused = await put({ explain: true, maxWaitMs: 1 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      explanation: { refusal: { by: 'pressure', retryAfterMs: 3000 } },
    });
  });

  it('is ended by its deadline', async () => {
    gate.pressure('a').report(1);
    await expect(put({ deadlineMs: 100 })).rejects.toMatchObject({
      name: 'DeadlineExceededError',
      cause: { stage: 'pressure' },
    });
  });
});

describe('a verdict with a pressure', () => {
  const answering = (verdict: Verdict, options: Partial<CallOptions> = {}): Promise<unknown> =>
    put({ classify: () => verdict, ...options });

  it.each<[Verdict, number]>([
    [{ kind: 'success', pressure: 0.5 }, 750],
    [{ kind: 'busy', pressure: 0.5 }, 750],
    [{ kind: 'ignored', pressure: 0.5 }, 750],
    [{ kind: 'failure', pressure: 0.5 }, 750],
    [{ kind: 'refused', retryAfterMs: 10, pressure: 1 }, 3000],
    [{ kind: 'busy', retryAfterMs: 10, pressure: 0.1 }, 30],
    [{ kind: 'success', pressure: 7 }, 3000],
    [{ kind: 'success', pressure: Number.POSITIVE_INFINITY }, 3000],
    [{ kind: 'success', pressure: -1 }, 0],
    [{ kind: 'success', pressure: Number.NaN }, 0],
    [{ kind: 'success' }, 0],
    ['success', 0],
  ])('%j opens a window of %d ms', async (verdict, windowMs) => {
    await expect(answering(verdict)).resolves.toBe('done');
    expect(other.pressure('a').remainingMs()).toBe(windowMs);
    expect(gates.counted('CLASSIFIER_FAULTS', 'put')).toBe(0);
  });

  it('does so after every attempt, also of a call that is retried or explained', async () => {
    const verdicts: Verdict[] = [
      { kind: 'busy', pressure: 0.1 },
      { kind: 'success', pressure: 0.5 },
    ];
    const call = gate.call(
      {
        rpc: 'put',
        bucket: 'a',
        explain: true,
        retry: { maxAttempts: 2, baseDelayMs: 0 },
        classify: () => verdicts.shift() ?? 'ignored',
      },
      () => 1,
    );
    await gates.time.advanceToAsync(30);
    const { explanation } = await call;
    // The shortest backoff takes the one that is missing.
    expect(explanation.attempts[1]?.stages[0]).toEqual({ stage: 'pressure', waitedMs: 29 });
    expect(gate.pressure('a').remainingMs()).toBe(750);
  });

  it('lifts with 0, changes nothing with NaN, and means nothing to a call without a bucket', async () => {
    gate.pressure('a').report(1);
    await put({ bucket: 'b', classify: () => ({ kind: 'success', pressure: 0 }) });
    await gate.call({ rpc: 'put', classify: () => ({ kind: 'success', pressure: 1 }) }, () => 1);
    expect(gate.pressure('a').remainingMs()).toBe(3000);
    gate.pressure('a').report(Number.NaN);
    expect(gate.pressure('a').remainingMs()).toBe(3000);
    gate.pressure('a').report(0);
    expect(gate.pressure('a').remainingMs()).toBe(0);
    expect(gates.snapshot().pressure).toEqual([]);
  });

  it.each([
    { kind: 'success', pressure: '0.5' },
    { kind: 'success', retryAfterMs: 5 },
    { kind: 'refused', pressure: 0.5 },
    { kind: 'other', pressure: 0.5 },
    { pressure: 0.5 },
  ])('%j is no verdict', async (verdict) => {
    await expect(answering(verdict as never)).rejects.toThrow(/^classify must return a verdict/);
  });
});

describe('gate.pressure', () => {
  it('waits for the end of the window, with a patience and a signal of its own', async () => {
    const window = gate.pressure('a');
    expect(window.bucket).toBe('a');
    await expect(window.wait()).resolves.toEqual({ waitedMs: 0 });
    window.report(0.5);
    const wait = other.pressure('a').wait({ maxWaitMs: 750 });
    await gates.time.advanceToAsync(750);
    await expect(wait).resolves.toEqual({ waitedMs: 750 });
    window.report(1);
    await expect(window.wait({ maxWaitMs: 10 })).rejects.toMatchObject({ stage: 'pressure' });
    await expect(window.wait({ signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    await expect(window.wait({ maxWait: 10 } as never)).rejects.toThrow(/^maxWait is no option/);
    await expect(window.wait({ maxWaitMs: -1 })).rejects.toThrow(RangeError);
  });

  it.each(['', 7, null, {}, undefined])('refuses %j as a bucket', (bucket) => {
    expect(() => gate.pressure(bucket as never)).toThrow(
      /^bucket must be a string that names a bucket, got /,
    );
  });

  it('refuses a pressure that is no number', () => {
    expect(() => gate.pressure('a').report('0.5' as never)).toThrow(
      /^pressure must be a number, got '0.5'/,
    );
  });

  it('is bounded by what the configuration says at the moment of the report', () => {
    gates.configure({ pressure: { maxThrottleMs: 100 } });
    gate.pressure('a').report(1);
    expect(gate.pressure('a').remainingMs()).toBe(100);
    gates.configure({ pressure: { maxThrottleMs: 0 } });
    gate.pressure('b').report(1);
    expect(gate.pressure('b').remainingMs()).toBe(0);
  });

  it('lets calls of buckets that there is no room for go, and counts them', async () => {
    for (let i = 0; i < 300; i += 1) gate.pressure(`bucket-${i}`).report(0.5);
    const { directory, pressureTotals } = gates.snapshot();
    expect(pressureTotals).toMatchObject({ open: 256, signals: 256, untracked: 44 });
    expect(directory.overflow).toBe(44);
    await expect(put({ bucket: 'bucket-299' })).resolves.toBe('done');
  });

  it('keeps buckets with long names apart', () => {
    const long = 'x'.repeat(200);
    gate.pressure(`${long}1`).report(0.5);
    expect(other.pressure(`${long}1`).remainingMs()).toBe(750);
    expect(other.pressure(`${long}2`).remainingMs()).toBe(0);
    expect(gates.snapshot().pressure[0]?.bucket).toMatch(/^x{112}~[0-9a-f]{32}$/);
  });
});
