import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  BusyError,
  CircuitOpenError,
  IllegalStateError,
  RateLimitExceededError,
  RuntimeClosedError,
  UnknownRpcError,
} from '../../src/shared/errors.js';
import { createFakeGate } from '../../src/testing/fake-gate.js';
import { createVirtualTime } from '../../src/testing/virtual-time.js';
import type { Gate } from '../../src/workers/gate.js';

type Verbs = Pick<
  Gate,
  | 'tryAcquire'
  | 'acquire'
  | 'acquireSync'
  | 'reserve'
  | 'call'
  | 'readFromPeers'
  | 'updateConfig'
  | 'detach'
>;
type BreakerVerbs = Pick<ReturnType<Gate['breaker']>, 'address' | 'state' | 'open' | 'close'>;
type PressureVerbs = Pick<
  ReturnType<Gate['pressure']>,
  'bucket' | 'report' | 'remainingMs' | 'wait'
>;
type PermitVerbs = Pick<
  ReturnType<ReturnType<Gate['breaker']>['admit']>,
  'isProbe' | 'success' | 'failure' | 'ignored'
>;
type BoundVerbs = Pick<
  ReturnType<Gate['limiter']>,
  'rpc' | 'waiting' | 'tryAcquire' | 'acquire' | 'acquireSync' | 'reserve'
>;

describe('the fake gate', () => {
  it.each([{ kind: 'admitt' }, {}, undefined])('takes %j for no answer', async (answer) => {
    const gate = createFakeGate({ answer: () => answer as never });
    await expect(gate.call({ rpc: 'a' }, () => 'never')).rejects.toThrow(
      "kind of an answer must be 'admit', 'refuse' or 'circuit-open', got ",
    );
    expect(() => gate.tryAcquire('a')).toThrow(TypeError);
  });

  it('has the verbs of the real one', () => {
    const fake = createFakeGate();
    const gate: Verbs = fake;
    const bound: BoundVerbs = fake.limiter('a');
    expect(gate.tryAcquire('a') && bound.tryAcquire()).toBe(true);
    const breaker: BreakerVerbs = fake.breaker('a:1');
    const permit: PermitVerbs = fake.breaker('a:1').admit();
    const window: PressureVerbs = fake.pressure('a');
    expect(window.remainingMs()).toBe(0);
    expect([breaker.state().state, permit.isProbe]).toEqual(['closed', false]);
  });

  it('admits everything at once unless told otherwise, and records it', async () => {
    const gate = createFakeGate();
    expect(gate.tryAcquire('a', 2)).toBe(true);
    expect(await gate.acquire('a')).toEqual({ waitedMs: 0 });
    expect(gate.acquireSync('a')).toEqual({ waitedMs: 0 });
    expect(gate.reserve('a')).toEqual({ waitMs: 0 });
    expect(await gate.call({ rpc: 'b', table: 10_086n, weight: 3 }, async () => 'reply')).toBe(
      'reply',
    );
    expect(gate.requests.map(({ verb, rpc, table, n }) => [verb, rpc, table, n])).toEqual([
      ['tryAcquire', 'a', undefined, 2],
      ['acquire', 'a', undefined, 1],
      ['acquireSync', 'a', undefined, 1],
      ['reserve', 'a', undefined, 1],
      ['call', 'b', '10086', 3],
    ]);
    expect(gate.verdicts.map(({ verdict }) => verdict)).toEqual(['success']);
  });

  it('refuses as the real one does, without running the attempt', async () => {
    const gate = createFakeGate({ answer: () => ({ kind: 'refuse', retryAfterMs: 40 }) });
    expect(gate.tryAcquire('a')).toBe(false);
    expect(gate.reserve('a')).toEqual({ waitMs: 40 });
    const refused = gate.call({ rpc: 'a', table: 't' }, () => expect.unreachable());
    await expect(refused).rejects.toMatchObject({
      name: 'RateLimitExceededError',
      retryAfterMs: 40,
      rpc: 'a',
      table: 't',
    });
  });

  it('lets a caller wait in virtual time, up to its own limit', async () => {
    const time = createVirtualTime();
    const gate = createFakeGate({ time, answer: () => ({ kind: 'admit', waitMs: 250 }) });
    const log: string[] = [];
    const call = gate.call({ rpc: 'a' }, () => log.push(`at ${time.nowMs}`));
    expect(gate.limiter('a').waiting).toBe(1);
    await time.advanceToAsync(249);
    expect(log).toEqual([]);
    await time.advanceToAsync(250);
    await call;
    expect(log).toEqual(['at 250']);
    const impatient = gate.acquire('a', { maxWaitMs: 249 });
    await expect(impatient).rejects.toBeInstanceOf(RateLimitExceededError);
    expect(gate.tryAcquire('a')).toBe(false);
  });

  it('lets go of a signal on every path', async () => {
    const time = createVirtualTime();
    const gate = createFakeGate({ time, answer: () => ({ kind: 'admit', waitMs: 10 }) });
    const { signal } = new AbortController();
    const waited = gate.acquire('a', { signal });
    await time.advanceToAsync(10);
    await waited;
    const aborting = new AbortController();
    const aborted = gate.call({ rpc: 'a', signal: aborting.signal }, () => expect.unreachable());
    const reason = new Error('changed my mind');
    aborting.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(getEventListeners(aborting.signal, 'abort')).toEqual([]);
    expect(time.pendingTimers).toBe(0);
  });

  it('classifies outcomes: by error, by the call’s own classifier, and an abort as ignored', async () => {
    const gate = createFakeGate();
    const fail = (error: unknown) => () => Promise.reject(error);
    await expect(gate.call({ rpc: 'a' }, fail(new BusyError('busy')))).rejects.toThrow('busy');
    await expect(gate.call({ rpc: 'a' }, fail('odd'))).rejects.toBe('odd');
    await gate.call({ rpc: 'a', classify: ({ ok }) => (ok ? 'ignored' : 'failure') }, () => 1);
    const controller = new AbortController();
    const aborted = gate.call({ rpc: 'a', signal: controller.signal }, async ({ signal }) => {
      controller.abort('enough');
      signal?.throwIfAborted();
    });
    await expect(aborted).rejects.toBe('enough');
    expect(gate.verdicts.map(({ verdict }) => verdict)).toEqual([
      'busy',
      'failure',
      'ignored',
      'ignored',
    ]);
  });

  it('takes the hint of a BusyError, and what was refused here for nobody’s failure', async () => {
    const gate = createFakeGate();
    const refusal = new RateLimitExceededError('', { retryAfterMs: 1, stage: 'host' });
    for (const error of [new BusyError('busy', { retryAfterMs: 5 }), refusal])
      await gate.call({ rpc: 'a' }, () => Promise.reject(error)).catch(() => undefined);
    expect(gate.verdicts.map(({ verdict }) => verdict)).toEqual([
      { kind: 'busy', retryAfterMs: 5 },
      'ignored',
    ]);
  });

  it('answers with an open circuit as the real one does, without running the attempt', async () => {
    const gate = createFakeGate({ answer: () => ({ kind: 'circuit-open', retryAfterMs: 40 }) });
    const refused = gate.call({ rpc: 'a', address: 'PEER:1' }, () => expect.unreachable());
    await expect(refused).rejects.toMatchObject({
      name: 'CircuitOpenError',
      address: 'peer:1',
      retryAfterMs: 40,
    });
    expect(() => gate.breaker('peer:1').admit()).toThrow(CircuitOpenError);
    expect(() => gate.tryAcquire('a')).toThrow(/must answer a request with an address/);
  });

  it('has circuits that open and close by hand, and permits that are settled once', async () => {
    const gate = createFakeGate();
    const breaker = gate.breaker('HTTP://Peer:1/x');
    const permit = breaker.admit();
    permit.failure();
    expect(() => permit.success()).toThrow(IllegalStateError);
    expect(gate.verdicts).toMatchObject([
      { request: { verb: 'admit', address: 'peer:1' }, verdict: 'failure' },
    ]);
    breaker.open();
    expect(gate.breaker('peer:1').state()).toMatchObject({ state: 'open', isolated: true });
    const call = () => gate.call({ rpc: 'a', address: 'peer:1' }, () => 'reply');
    await expect(call()).rejects.toThrow(CircuitOpenError);
    breaker.close();
    expect(await call()).toBe('reply');
    gate.detach();
    expect(() => breaker.admit()).toThrow(RuntimeClosedError);
    expect(() => breaker.open()).toThrow(RuntimeClosedError);
  });

  it('reads from peers in order, past open circuits, down to the fallback', async () => {
    const gate = createFakeGate();
    gate.breaker('a:1').open();
    const asked: string[] = [];
    const read = (address: string): string => {
      asked.push(address);
      if (address !== 'c:1') throw new Error('down');
      return address;
    };
    const served = await gate.readFromPeers(
      { candidates: ['a:1', 'b:1', 'B:1', 'c:1'], rpc: 'read', table: 7 },
      read,
      () => expect.unreachable(),
    );
    expect(served).toMatchObject({
      value: 'c:1',
      source: { kind: 'peer', address: 'c:1' },
      attempts: [
        { address: 'b:1', verdict: 'failure', probe: false },
        { address: 'c:1', verdict: 'success', probe: false },
      ],
      open: ['a:1'],
    });
    expect(asked).toEqual(['b:1', 'c:1']);
    expect(gate.requests.at(-1)).toEqual({
      verb: 'readFromPeers',
      rpc: 'read',
      table: '7',
      address: 'c:1',
      n: 1,
    });
    gate.answer(() => ({ kind: 'refuse', retryAfterMs: 1 }));
    const fellBack = await gate.readFromPeers({ candidates: ['c:1'] }, read, () => 'object store');
    expect(fellBack).toEqual({
      value: 'object store',
      source: { kind: 'fallback' },
      attempts: [],
      open: [],
    });
  });

  it('ends a read from peers with the signal’s reason', async () => {
    const gate = createFakeGate();
    const controller = new AbortController();
    const read = gate.readFromPeers(
      { candidates: ['a:1', 'b:1'], signal: controller.signal },
      (_address, { signal }) => {
        controller.abort('enough');
        signal.throwIfAborted();
      },
      () => expect.unreachable(),
    );
    await expect(read).rejects.toBe('enough');
    expect(gate.verdicts.map(({ verdict }) => verdict)).toEqual(['ignored']);
  });

  it('knows only the RPC types that it was given', () => {
    const gate = createFakeGate({ rpcs: ['a'] });
    expect(() => gate.tryAcquire('b')).toThrow(UnknownRpcError);
    expect(() => gate.limiter('b')).toThrow(UnknownRpcError);
    expect(() => gate.limiter('b')).toThrow("rpc must be one of a, got 'b'");
    expect(gate.requests).toEqual([]);
  });

  it('detached rejects who waits, and every call after', async () => {
    const time = createVirtualTime();
    const gate = createFakeGate({ time, answer: () => ({ kind: 'admit', waitMs: 10 }) });
    const waiting = gate.acquire('a');
    gate.detach();
    await expect(waiting).rejects.toBeInstanceOf(RuntimeClosedError);
    expect(() => gate.tryAcquire('a')).toThrow(RuntimeClosedError);
    await expect(gate.updateConfig({})).rejects.toBeInstanceOf(RuntimeClosedError);
  });

  it('records configuration patches under ascending versions', async () => {
    const gate = createFakeGate();
    expect(await gate.updateConfig({ host: { enabled: false } })).toEqual({ version: 2 });
    expect(await gate.updateConfig({})).toEqual({ version: 3 });
    expect(gate.patches).toEqual([{ host: { enabled: false } }, {}]);
  });
});

describe('pressure windows of a fake gate', () => {
  it('hold calls of their bucket, as a verdict or a report says', async () => {
    const time = createVirtualTime();
    const gate = createFakeGate({ time });
    const log: string[] = [];
    const put = (bucket: string, pressure?: number): Promise<void> =>
      gate
        .call(
          {
            rpc: 'put',
            bucket,
            classify: () => ({ kind: 'success', ...(pressure !== undefined && { pressure }) }),
          },
          () => undefined,
        )
        .then(() => void log.push(`${bucket} at ${time.nowMs}`));
    await put('a', 0.5);
    expect(gate.pressure('a').remainingMs()).toBe(750);
    void put('a');
    void put('b');
    await time.advanceToAsync(749);
    expect(log).toEqual(['a at 0', 'b at 0']);
    await time.advanceToAsync(750);
    expect(log).toEqual(['a at 0', 'b at 0', 'a at 750']);
    expect(gate.requests.map(({ bucket }) => bucket)).toEqual(['a', 'b', 'a']);
  });

  it('are lifted, replaced, refused and left as the real ones', async () => {
    const time = createVirtualTime();
    const gate = createFakeGate({ time });
    const window = gate.pressure('a');
    window.report(1);
    await expect(window.wait({ maxWaitMs: 2999 })).rejects.toMatchObject({
      stage: 'pressure',
      retryAfterMs: 3000,
    });
    const wait = window.wait();
    await time.advanceToAsync(100);
    window.report(0.1);
    window.report(Number.NaN);
    await time.advanceToAsync(130);
    await expect(wait).resolves.toEqual({ waitedMs: 130 });
    window.report(1);
    const call = gate.call({ rpc: 'put', bucket: 'a', explain: true }, () => 1);
    await time.advanceToAsync(200);
    window.report(0);
    await time.settleAsync();
    const { explanation } = await call;
    expect(explanation).toMatchObject({ waitedMs: 70 });
    expect(explanation.attempts[0]?.stages).toEqual([
      { stage: 'pressure', waitedMs: 70 },
      { stage: 'host', waitedMs: 0 },
    ]);
    window.report(1);
    const left = window.wait();
    gate.detach();
    await expect(left).rejects.toThrow('the thread has detached');
    expect(() => window.report(1)).toThrow(RuntimeClosedError);
    expect(() => gate.pressure('')).toThrow(TypeError);
  });

  it('are only reported where nobody waits', async () => {
    const gate = createFakeGate();
    gate.pressure('a').report(0.5);
    await expect(gate.pressure('a').wait()).resolves.toEqual({ waitedMs: 750 });
  });
});
