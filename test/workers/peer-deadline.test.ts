import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { DeadlineExceededError } from '../../src/shared/errors.js';
import type { Gate } from '../../src/workers/gate.js';
import type { PeerRead, PeerReadOptions } from '../../src/workers/peer-read-options.js';
import { createVirtualGates, ended, type VirtualGates } from './virtual-gate.js';

const [A, B] = ['10.0.0.1:80', '10.0.0.2:80'] as const;

let gates: VirtualGates;
let gate: Gate;
/** Signals that callbacks were given. */
let signals: (AbortSignal | undefined)[];
beforeEach(() => {
  gates = createVirtualGates({
    host: { rpcs: { read: { qpsPerCore: 1, burst: 1 } } },
    breaker: { failureThreshold: 1, cooldownMs: 1000 },
    peers: { connectTimeoutMs: 0 },
  });
  gate = gates.gate();
  signals = [];
});

const never = (): Promise<never> => new Promise(() => undefined);

/** Nobody answers, and nobody listens. */
function read(
  options: Partial<PeerReadOptions<string>> = {},
  fallback: () => Promise<string> | string = never,
): Promise<PeerRead<string>> {
  return gate.readFromPeers<string>(
    { candidates: [A, B], ...options },
    (_address, { signal }) => {
      signals.push(signal);
      return never();
    },
    ({ signal }) => {
      signals.push(signal);
      return fallback();
    },
  );
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('it was not rejected');
    },
    (error: unknown) => error,
  );

describe('the deadline of a read from peers', () => {
  it('ends a candidate that hangs, which has failed, and asks no other', async () => {
    const error = await failureOf(ended(gates, read({ deadlineMs: 100 })));
    expect(error).toBeInstanceOf(DeadlineExceededError);
    expect(error).toMatchObject({ deadlineMs: 100, attempts: 1 });
    expect(gates.time.nowMs).toBe(100);
    expect(signals.map((signal) => signal?.reason)).toEqual([expect.any(DeadlineExceededError)]);
    expect(gate.breaker(A).state().state).toBe('open');
    expect(gate.breaker(B).state().state).toBe('closed');
    expect(gates.time.pendingTimers).toBe(0);
  });

  it('ends a race, and a fallback that hangs, with what failed last as its cause', async () => {
    const race = ended(gates, read({ deadlineMs: 100, race: true }));
    expect(await failureOf(race)).toMatchObject({ attempts: 2 });
    const down = new Error('down');
    const late = gate.readFromPeers(
      { candidates: ['10.0.0.3:80'], deadlineMs: 100 },
      () => Promise.reject(down),
      ({ signal }) => {
        signals.push(signal);
        return never();
      },
    );
    expect(await failureOf(ended(gates, late))).toMatchObject({ attempts: 1, cause: down });
    expect(gates.time.nowMs).toBe(200);
    expect(signals.at(-1)?.aborted).toBe(true);
  });

  it('bounds the waits for limits, after which the fallback has what is left', async () => {
    gate.reserve('read', 1);
    const options = { deadlineMs: 100, rpc: 'read', maxWaitMs: 10_000 };
    const { source } = await ended(
      gates,
      read(options, () => 'fallback'),
    );
    expect(source).toEqual({ kind: 'fallback' });
    expect(gates.time.nowMs).toBe(0);
  });

  it('is that of the configuration unless the read has its own, and does not touch reads in time', async () => {
    gates.configure({ retry: { deadlineMs: 50 } });
    expect(await failureOf(ended(gates, read()))).toMatchObject({ deadlineMs: 50 });
    const inTime = gate.readFromPeers(
      { candidates: ['10.0.0.4:80'], deadlineMs: 70 },
      () => 'served',
      () => 'fallback',
    );
    expect((await ended(gates, inTime)).value).toBe('served');
    expect(gates.time.pendingTimers).toBe(0);
  });
});

describe('an abort of a read from peers', () => {
  it.each([{ race: false }, { race: true }])(
    'ends it at once though no callback listens, and blames nobody: %j',
    async (options) => {
      const controller = new AbortController();
      const pending = read({ ...options, signal: controller.signal });
      await gates.time.settleAsync();
      controller.abort(new Error('gone'));
      await expect(pending).rejects.toThrow('gone');
      for (const address of [A, B]) expect(gate.breaker(address).state().state).toBe('closed');
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    },
  );

  it('ends a fallback at once that does not listen', async () => {
    const controller = new AbortController();
    const pending = read({ candidates: [], signal: controller.signal });
    await gates.time.settleAsync();
    expect(signals).toEqual([controller.signal]);
    controller.abort(new Error('gone'));
    await expect(pending).rejects.toThrow('gone');
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});
