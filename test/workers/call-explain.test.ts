import { beforeEach, describe, expect, it } from 'vitest';
import { RateLimitExceededError } from '../../src/shared/errors.js';
import type { Explanation } from '../../src/shared/explanation.js';
import { decodeError, encodeError } from '../../src/workers/error-codec.js';
import type { Gate } from '../../src/workers/gate.js';
import { createVirtualGates, ended, type VirtualGates } from './virtual-gate.js';

let gates: VirtualGates;
let gate: Gate;
beforeEach(() => {
  gates = createVirtualGates({
    host: { rpcs: { paid: { qpsPerCore: 10, burst: 1 } } },
    retry: { baseDelayMs: 100 },
  });
  gate = gates.gate({ random: () => 0.5 });
});

const explained = (error: unknown): Explanation | undefined =>
  (error as { explanation?: Explanation }).explanation;
const failure = (call: Promise<unknown>): Promise<unknown> =>
  ended(
    gates,
    call.catch((error: unknown) => error),
  );

describe('explain: true', () => {
  it('tells the waits of the stages, the attempts, their verdicts and backoffs, and the config', async () => {
    await gate.call({ rpc: 'paid' }, () => 'first');
    gates.configure({ waiting: { maxWaitMs: 5000 } });
    const call = gate.call(
      { rpc: 'paid', explain: true, retry: { maxAttempts: 2 } },
      async ({ attempt }) => {
        await new Promise<void>((resolve) => gates.time.setTimer(20, resolve));
        if (attempt === 1) {
          gates.configure({ waiting: { maxWaitMs: 6000 } });
          throw new Error('down');
        }
        return 'second';
      },
    );
    const { value, explanation } = await ended(gates, call);
    expect(value).toBe('second');
    expect(explanation).toEqual({
      configVersion: 2,
      tookMs: 220,
      waitedMs: 130,
      backoffMs: 50,
      attempts: [
        {
          attempt: 1,
          configVersion: 2,
          stages: [{ stage: 'host', waitedMs: 100 }],
          verdict: 'failure',
          tookMs: 20,
          backoffMs: 50,
        },
        {
          attempt: 2,
          configVersion: 3,
          stages: [{ stage: 'host', waitedMs: 30 }],
          verdict: 'success',
          tookMs: 20,
        },
      ],
    });
  });

  it('gives a refusal the explanation: who refused, and why', async () => {
    const options = { rpc: 'paid', explain: true, maxWaitMs: 10 } as const;
    await gate.call(options, () => 'first');
    const error = await failure(gate.call(options, () => 'second'));
    expect(error).toBeInstanceOf(RateLimitExceededError);
    expect(explained(error)).toMatchObject({
      configVersion: 1,
      refusal: { by: 'host', reason: (error as Error).message, retryAfterMs: 100 },
      attempts: [{ attempt: 1, stages: [] }],
    });
    const received = decodeError(encodeError(error));
    expect(explained(received)).toEqual(explained(error));
  });

  it.each([
    ['attempts', { retry: { maxAttempts: 1 } }],
    ['verdict', { retry: { maxAttempts: 2, on: [] } }],
    ['deadline', { retry: { maxAttempts: 2 }, deadlineMs: 40 }],
    ['hint', { retry: { maxAttempts: 2, maxRetryAfterMs: 5 } }],
  ])('gives the last error of the attempts the explanation: stopped by %s', async (why, how) => {
    const down = new Error('down');
    const classify = () => ({ kind: 'failure' as const, retryAfterMs: why === 'hint' ? 6 : 0 });
    const call = gate.call({ rpc: 'paid', explain: true, classify, ...how }, () => {
      throw down;
    });
    expect(await failure(call)).toBe(down);
    expect(explained(down)?.attempts).toMatchObject([{ verdict: 'failure', stopped: why }]);
    expect(Object.keys(down)).toEqual([]);
  });

  it('tells of a deadline which stage held the call', async () => {
    const options = { rpc: 'paid', explain: true, deadlineMs: 50 } as const;
    await gate.call(options, () => 'first');
    const refusal = explained(await failure(gate.call(options, () => 'second')))?.refusal;
    expect(refusal?.by).toBe('deadline');
    expect(refusal?.reason).toMatch(/within 50 ms: host limit of paid/);
  });

  it('rejects with the reason of a signal also where that is no text', async () => {
    const reason: unknown = Object.create(null);
    const call = gate.call(
      { rpc: 'paid', explain: true, signal: AbortSignal.abort(reason) },
      () => 1,
    );
    expect(await failure(call)).toBe(reason);
  });

  it('never writes to what others may hold: reasons of signals, frozen and shared errors', async () => {
    const reason = new Error('gone');
    const signal = AbortSignal.abort(reason);
    const options = { rpc: 'paid', explain: true } as const;
    expect(await failure(gate.call({ ...options, signal }, () => 1))).toBe(reason);
    expect(explained(reason)).toBeUndefined();
    const frozen = Object.freeze(new Error('frozen'));
    const thrown = await failure(
      gate.call(options, () => {
        throw frozen;
      }),
    );
    expect(thrown).toBe(frozen);
    const waiting = [1, 2].map(() => gate.call(options, () => 1).catch((error: unknown) => error));
    await gates.time.settleAsync();
    gate.detach();
    const [one, two] = await Promise.all(waiting);
    expect(one).not.toBe(two);
    expect(explained(one)?.refusal?.by).toBe('runtime');
  });

  it('off: errors are as they were', async () => {
    await gate.call({ rpc: 'paid' }, () => 'first');
    const error = await failure(gate.call({ rpc: 'paid', maxWaitMs: 0 }, () => 'second'));
    expect(error).not.toHaveProperty('explanation');
  });
});
