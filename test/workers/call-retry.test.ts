import { describe, expect, it } from 'vitest';
import { BusyError, RateLimitExceededError } from '../../src/shared/errors.js';
import type { Verdict } from '../../src/shared/verdict.js';
import type { CallOptions } from '../../src/workers/call-options.js';
import type { Gate } from '../../src/workers/gate.js';
import { createVirtualGates, ended, type VirtualGates } from './virtual-gate.js';

const RPCS = { read: { qpsPerCore: 0 }, paid: { qpsPerCore: 10, burst: 2 } };

/** Backoffs take the whole of their bound, less a hair. */
const random = (): number => 0.999_999;

function setUp(retry = {}): { gates: VirtualGates; gate: Gate } {
  const gates = createVirtualGates({
    host: { rpcs: RPCS },
    retry: { maxAttempts: 4, baseDelayMs: 100, maxDelayMs: 250, ...retry },
  });
  return { gates, gate: gates.gate({ random }) };
}

/** Fails `times` times, then answers; says when each attempt began. */
function flaky(gates: VirtualGates, times: number, error: unknown = new Error('down')) {
  const at: number[] = [];
  const attempt = async ({ attempt: n }: { attempt: number }): Promise<string> => {
    expect(n).toBe(at.length + 1);
    at.push(Math.round(gates.time.nowMs));
    if (at.length <= times) throw error;
    return 'answer';
  };
  return { at, attempt };
}

describe('retries', () => {
  it('are off by default: only the caller knows what may be done twice', async () => {
    const gates = createVirtualGates({ host: { rpcs: RPCS } });
    const { at, attempt } = flaky(gates, 1);
    await expect(gates.gate().call({ rpc: 'read' }, attempt)).rejects.toThrow('down');
    expect(at).toEqual([0]);
    expect(gates.time.pendingTimers).toBe(0);
  });

  it('back off exponentially up to the cap, and resolve with the answer', async () => {
    const { gates, gate } = setUp();
    const { at, attempt } = flaky(gates, 3);
    expect(await ended(gates, gate.call({ rpc: 'read' }, attempt))).toBe('answer');
    expect(at).toEqual([0, 100, 300, 550]);
    expect(gates.counted('RETRIES')).toBe(3);
    expect(gates.counted('FAILURE')).toBe(3);
    expect(gates.counted('SUCCESS')).toBe(1);
    expect(gates.snapshot().rpcs[0]).toMatchObject({ calls: 4 });
    expect(gates.time.pendingTimers).toBe(0);
  });

  it('are told of before the backoff, and of no attempt that does not follow', async () => {
    const { gates, gate } = setUp({ maxAttempts: 3 });
    const told: number[] = [];
    const onRetry = (): void => void told.push(Math.round(gates.time.nowMs));
    const { at, attempt } = flaky(gates, 9);
    const call = gate.call({ rpc: 'read', onRetry }, attempt);
    await expect(ended(gates, call)).rejects.toThrow('down');
    expect(told).toEqual([0, 100]);
    expect(at).toEqual([0, 100, 300]);
  });

  it('are none when the one who is told of them throws', async () => {
    const { gates, gate } = setUp();
    const { at, attempt } = flaky(gates, 9);
    const onRetry = (): never => expect.fail('a bug');
    await expect(gate.call({ rpc: 'read', onRetry }, attempt)).rejects.toThrow('a bug');
    expect(at).toEqual([0]);
    expect(gates.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it('end with the last error when the attempts do', async () => {
    const { gates, gate } = setUp();
    let n = 0;
    const call = gate.call({ rpc: 'read' }, () => {
      n += 1;
      throw new Error(`down ${n}`);
    });
    await expect(ended(gates, call)).rejects.toThrow('down 4');
  });

  it('are asked for, refused or shaped per call', async () => {
    const { gates, gate } = setUp();
    const off = flaky(gates, 9);
    await expect(gate.call({ rpc: 'read', retry: false }, off.attempt)).rejects.toThrow('down');
    expect(off.at).toHaveLength(1);
    const two = flaky(gates, 9);
    const shaped = { rpc: 'read', retry: { maxAttempts: 2, baseDelayMs: 7 } };
    await expect(ended(gates, gate.call(shaped, two.attempt))).rejects.toThrow('down');
    expect(two.at).toEqual([0, 7]);
  });

  it('follow the configuration of the moment in every thread at once', async () => {
    const { gates, gate } = setUp();
    const other = gates.gate({ random });
    gates.configure({ retry: { maxAttempts: 2, baseDelayMs: 0 } });
    for (const one of [gate, other]) {
      const { at, attempt } = flaky(gates, 9);
      await expect(ended(gates, one.call({ rpc: 'read' }, attempt))).rejects.toThrow('down');
      expect(at).toHaveLength(2);
    }
  });

  it.each<[string, Verdict, number]>([
    ['a success', 'success', 1],
    ['an outcome that says nothing', 'ignored', 1],
    ['BUSY', 'busy', 4],
    ['a failure', 'failure', 4],
    ['a refusal', { kind: 'refused', retryAfterMs: 5 }, 4],
  ])('after %s', async (_, verdict, attempts) => {
    const { gates, gate } = setUp();
    let n = 0;
    const options: CallOptions<number> = { rpc: 'read', classify: () => verdict };
    const call = gate.call(options, async () => {
      n += 1;
      return n;
    });
    expect(await ended(gates, call)).toBe(attempts);
    expect(gates.counted('RETRIES')).toBe(attempts - 1);
  });

  it('leave out the verdicts that they are not for', async () => {
    const { gates, gate } = setUp();
    const { at, attempt } = flaky(gates, 9, new BusyError('overloaded'));
    const call = gate.call({ rpc: 'read', retry: { on: ['failure'] } }, attempt);
    await expect(ended(gates, call)).rejects.toThrow(BusyError);
    expect(at).toHaveLength(1);
    expect(gates.snapshot().rpcs[0]).toMatchObject({ busy: 1 });
  });
});

describe('a hint', () => {
  it('is waited for, and the backoff on top of it', async () => {
    const { gates, gate } = setUp();
    const { at, attempt } = flaky(gates, 1, new BusyError('later', { retryAfterMs: 700 }));
    expect(await ended(gates, gate.call({ rpc: 'read' }, attempt))).toBe('answer');
    expect(at).toEqual([0, 800]);
  });

  it('that is longer than allowed ends the call with the error, at once', async () => {
    const { gates, gate } = setUp({ maxRetryAfterMs: 500 });
    for (const retryAfterMs of [501, Number.POSITIVE_INFINITY]) {
      const { at, attempt } = flaky(gates, 1, new BusyError('later', { retryAfterMs }));
      await expect(gate.call({ rpc: 'read' }, attempt)).rejects.toThrow('later');
      expect(at).toHaveLength(1);
    }
    expect(gates.time.pendingTimers).toBe(0);
  });
});

describe('the budget', () => {
  it('bounds retries to a share of the calls, per RPC type and thread', async () => {
    const { gates, gate } = setUp({
      baseDelayMs: 0,
      budgetRatio: 0.2,
      budgetPerSecond: 0,
      budgetBurst: 3,
    });
    const fail = (): never => {
      throw new Error('down');
    };
    for (let i = 0; i < 50; i += 1)
      await ended(gates, gate.call({ rpc: 'read' }, fail)).catch(() => undefined);
    // The burst, and a fifth of the calls.
    expect(gates.counted('RETRIES')).toBe(3 + 9);
    expect(gates.counted('RETRIES_DENIED')).toBeGreaterThan(30);
    const { attempt } = flaky(gates, 1);
    expect(await ended(gates, gates.gate({ random }).call({ rpc: 'read' }, attempt))).toBe(
      'answer',
    );
  });

  it('always allows a few', async () => {
    const { gates, gate } = setUp({ baseDelayMs: 0, budgetRatio: 0, budgetBurst: 1 });
    const outcomes: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { attempt } = flaky(gates, 1);
      outcomes.push(
        await ended(gates, gate.call({ rpc: 'read' }, attempt)).catch(
          (error: Error) => error.message,
        ),
      );
    }
    expect(outcomes).toEqual(['answer', 'down', 'down']);
    await gates.time.advanceToAsync(gates.time.nowMs + 1000);
    const { attempt } = flaky(gates, 1);
    expect(await ended(gates, gate.call({ rpc: 'read' }, attempt))).toBe('answer');
  });
});

describe('every attempt', () => {
  it('pays the limiters', async () => {
    const { gates, gate } = setUp({ baseDelayMs: 0 });
    const { at, attempt } = flaky(gates, 3);
    expect(await ended(gates, gate.call({ rpc: 'paid' }, attempt))).toBe('answer');
    // 10 calls per second, 2 at once.
    expect(at).toEqual([0, 1, 100, 200]);
    expect(gates.snapshot().rpcs.find(({ rpc }) => rpc === 'paid')).toMatchObject({
      calls: 4,
      spent: 4,
    });
  });

  it('that is refused ends the call with the refusal, the last error as its cause', async () => {
    const { gates, gate } = setUp({ baseDelayMs: 0 });
    const { attempt } = flaky(gates, 9);
    const refusal = await ended(
      gates,
      gate.call({ rpc: 'paid', maxWaitMs: 0 }, attempt).catch((error: unknown) => error),
    );
    expect(refusal).toBeInstanceOf(RateLimitExceededError);
    expect((refusal as Error).cause).toMatchObject({ message: 'down' });
    expect(gates.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it('has what is left of the patience of the call', async () => {
    const { gates, gate } = setUp({ baseDelayMs: 0 });
    const { at, attempt } = flaky(gates, 9);
    const call = gate.call({ rpc: 'paid', maxWaitMs: 150 }, attempt);
    await expect(ended(gates, call)).rejects.toThrow(RateLimitExceededError);
    expect(at).toHaveLength(3);
  });
});

describe('a call in backoff', () => {
  it('ends by its signal at once', async () => {
    const { gates, gate } = setUp();
    const abort = new AbortController();
    const { at, attempt } = flaky(gates, 9);
    const call = gate.call({ rpc: 'read', signal: abort.signal }, attempt);
    call.catch(() => undefined);
    await gates.time.advanceToAsync(50);
    abort.abort('gone');
    await expect(call).rejects.toBe('gone');
    expect(at).toHaveLength(1);
    expect(gates.time.pendingTimers).toBe(0);
  });

  it('ends when the thread leaves, each with its own cause', async () => {
    const { gates, gate } = setUp();
    const calls = ['one', 'two'].map((name) =>
      gate
        .call({ rpc: 'read' }, () => {
          throw new Error(name);
        })
        .catch((error: unknown) => error as Error),
    );
    await gates.time.advanceToAsync(50);
    gate.detach();
    const errors = await Promise.all(calls);
    expect(errors.map(({ name }) => name)).toEqual(['RuntimeClosedError', 'RuntimeClosedError']);
    expect(errors.map(({ cause }) => (cause as Error).message)).toEqual(['one', 'two']);
    expect(gates.time.pendingTimers).toBe(0);
  });

  it('starts no further attempt once the runtime closes', async () => {
    const { gates, gate } = setUp();
    const { at, attempt } = flaky(gates, 9);
    const call = gate.call({ rpc: 'read' }, attempt);
    call.catch(() => undefined);
    await gates.time.advanceToAsync(50);
    gates.close();
    await expect(ended(gates, call)).rejects.toMatchObject({ name: 'RuntimeClosedError' });
    expect(at).toHaveLength(1);
  });
});
