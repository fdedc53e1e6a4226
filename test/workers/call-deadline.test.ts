import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  AttemptTimeoutError,
  DeadlineExceededError,
  RateLimitExceededError,
} from '../../src/shared/errors.js';
import type { AttemptContext } from '../../src/workers/attempt-scope.js';
import type { Gate } from '../../src/workers/gate.js';
import { createVirtualGates, ended, type VirtualGates } from './virtual-gate.js';

let gates: VirtualGates;
let gate: Gate;
beforeEach(() => {
  gates = createVirtualGates({
    host: { rpcs: { read: { qpsPerCore: 0 }, paid: { qpsPerCore: 10, burst: 1 } } },
    retry: { baseDelayMs: 100 },
  });
  gate = gates.gate({ random: () => 0.999_999 });
});

const hang = (): Promise<never> => new Promise(() => undefined);
const sleep = (ms: number): Promise<string> =>
  new Promise((resolve) => gates.time.setTimer(ms, () => resolve('answer')));
const failure = (call: Promise<unknown>): Promise<unknown> =>
  ended(gates, call).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('an attempt time-out', () => {
  it('leaves the attempt behind as a failure, and the next one gets its own time', async () => {
    const at: number[] = [];
    const call = gate.call(
      { rpc: 'read', attemptTimeoutMs: 50, retry: { maxAttempts: 2, baseDelayMs: 0 } },
      ({ attempt }) => {
        at.push(gates.time.nowMs);
        return attempt === 1 ? hang() : sleep(49);
      },
    );
    expect(await ended(gates, call)).toBe('answer');
    expect(at).toEqual([0, 51]);
    expect(gates.counted('TIMEOUTS')).toBe(1);
    expect(gates.counted('FAILURE')).toBe(1);
    expect(gates.time.pendingTimers).toBe(0);
  });

  it('says which attempt took too long', async () => {
    const call = gate.call({ rpc: 'read', attemptTimeoutMs: 50 }, hang);
    const error = await failure(call);
    expect(error).toBeInstanceOf(AttemptTimeoutError);
    expect(error).toMatchObject({ attempt: 1, timeoutMs: 50, phase: 'attempt' });
    expect(gates.time.nowMs).toBe(50);
  });

  it('comes from the configuration of the moment', async () => {
    gates.configure({ retry: { attemptTimeoutMs: 30 } });
    expect(await failure(gate.call({ rpc: 'read' }, hang))).toMatchObject({ timeoutMs: 30 });
    const unbounded = gate.call({ rpc: 'read', attemptTimeoutMs: 0 }, () => sleep(500));
    expect(await ended(gates, unbounded)).toBe('answer');
  });

  it('is not told to the classifier, and what comes late is counted and changes nothing', async () => {
    let told = 0;
    const classify = (): 'success' => {
      told += 1;
      return 'success';
    };
    const late = async (error: boolean): Promise<string> => {
      await sleep(80);
      if (error) throw new Error('too late');
      return 'late';
    };
    for (const error of [true, false]) {
      const call = gate.call({ rpc: 'read', attemptTimeoutMs: 50, classify }, () => late(error));
      expect(await failure(call)).toBeInstanceOf(AttemptTimeoutError);
    }
    await gates.time.advanceToAsync(1000);
    expect(told).toBe(0);
    expect(gates.counted('LATE')).toBe(2);
    expect(gates.counted('FAILURE')).toBe(2);
    expect(gates.counted('SUCCESS')).toBe(0);
  });

  it('of a caller who has gone is no failure', async () => {
    const abort = new AbortController();
    const call = gate.call({ rpc: 'read', attemptTimeoutMs: 50, signal: abort.signal }, hang);
    call.catch(() => undefined);
    await gates.time.advanceToAsync(10);
    abort.abort('gone');
    expect(await failure(call)).toBe('gone');
    expect(gates.counted('FAILURE')).toBe(0);
    expect(gates.counted('IGNORED')).toBe(1);
    expect(gates.counted('TIMEOUTS')).toBe(0);
  });
});

describe('the signal of an attempt', () => {
  it('is the caller’s own where nothing else can end the attempt', async () => {
    const { signal } = new AbortController();
    let seen: AttemptContext | undefined;
    const look = (context: AttemptContext): void => {
      seen = context;
    };
    await gate.call({ rpc: 'read', signal }, look);
    expect(seen?.signal).toBe(signal);
    await gate.call({ rpc: 'read' }, look);
    expect(seen?.signal).toBeUndefined();
    await gate.call({ rpc: 'read', signal, attemptTimeoutMs: 50 }, look);
    expect(seen?.signal).not.toBe(signal);
  });

  it('leaves no listener on a long-lived signal, whatever becomes of the calls', async () => {
    const { signal } = new AbortController();
    const options = {
      rpc: 'read',
      signal,
      attemptTimeoutMs: 5,
      retry: { maxAttempts: 2, baseDelayMs: 1 },
    };
    for (let i = 0; i < 1000; i += 1) {
      const call = gate.call(options, (context) => {
        expect(context.signal?.aborted).toBe(false);
        expect(getEventListeners(signal, 'abort').length).toBe(1);
        if (i % 3 === 0) throw new Error('no');
        return i % 3 === 1 ? hang() : Promise.resolve();
      });
      await failure(call);
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(gates.time.pendingTimers).toBe(0);
  });
});

describe('the deadline of a call', () => {
  it('leaves the attempt behind', async () => {
    let signal: AbortSignal | undefined;
    const call = gate.call({ rpc: 'read', deadlineMs: 70, attemptTimeoutMs: 100 }, (context) => {
      signal = context.signal;
      return hang();
    });
    const error = await failure(call);
    expect(error).toBeInstanceOf(DeadlineExceededError);
    expect(error).toMatchObject({ deadlineMs: 70, attempts: 1 });
    expect(signal?.reason).toBe(error);
    expect(gates.time.nowMs).toBe(70);
    expect(gates.counted('DEADLINES')).toBe(1);
    expect(gates.counted('FAILURE')).toBe(1);
  });

  it('covers all attempts together', async () => {
    const begun: number[] = [];
    const options = { rpc: 'read', deadlineMs: 200, attemptTimeoutMs: 60 };
    const call = gate.call({ ...options, retry: { maxAttempts: 9, baseDelayMs: 20 } }, () => {
      begun.push(Math.round(gates.time.nowMs));
      return hang();
    });
    expect(await failure(call)).toMatchObject({ name: 'DeadlineExceededError', attempts: 3 });
    expect(begun).toEqual([0, 80, 180]);
    expect(gates.time.nowMs).toBe(200);
  });

  it('does not begin a backoff that it would cut short: the last error is the answer', async () => {
    const call = gate.call({ rpc: 'read', deadlineMs: 90, retry: { maxAttempts: 2 } }, () => {
      throw new Error('down');
    });
    expect(await failure(call)).toMatchObject({ message: 'down' });
    expect(gates.time.nowMs).toBe(0);
  });

  it('refuses a wait that would pass it at once, with the refusal as the cause', async () => {
    const options = { rpc: 'paid', deadlineMs: 50 };
    expect(await gate.call(options, () => 'first')).toBe('first');
    const error = await failure(gate.call(options, () => 'second'));
    expect(error).toMatchObject({ name: 'DeadlineExceededError', attempts: 0 });
    expect((error as Error).cause).toBeInstanceOf(RateLimitExceededError);
    expect(gates.time.nowMs).toBe(0);
    expect(gates.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it('that is not what bounds the wait leaves the refusal as it is', async () => {
    const options = { rpc: 'paid', deadlineMs: 5000, maxWaitMs: 50 };
    await gate.call(options, () => 'first');
    expect(await failure(gate.call(options, () => 'second'))).toBeInstanceOf(
      RateLimitExceededError,
    );
  });

  it('ends who waits when the limit becomes stricter meanwhile', async () => {
    const options = { rpc: 'paid', deadlineMs: 300 };
    await gate.call(options, () => 'first');
    const call = gate.call(options, () => 'second');
    call.catch(() => undefined);
    await gates.time.advanceToAsync(50);
    gates.configure({ host: { rpcs: { paid: { qpsPerCore: 0.1 } } } });
    expect(await failure(call)).toMatchObject({ name: 'DeadlineExceededError', deadlineMs: 300 });
    expect(Math.round(gates.time.nowMs)).toBeLessThanOrEqual(301);
    expect(gates.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it('that passes while the thread stands still is noticed before an attempt starts', async () => {
    let attempts = 0;
    const call = gate.call({ rpc: 'read', deadlineMs: 150, retry: { maxAttempts: 3 } }, () => {
      attempts += 1;
      throw new Error('down');
    });
    call.catch(() => undefined);
    await gates.time.settleAsync();
    gates.time.stallTo(1000);
    const error = await failure(call);
    expect(error).toMatchObject({ name: 'DeadlineExceededError', attempts: 1 });
    expect((error as Error).cause).toMatchObject({ message: 'down' });
    expect(attempts).toBe(1);
    expect(gates.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });
});
