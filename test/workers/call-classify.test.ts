import { beforeEach, describe, expect, it } from 'vitest';
import { classifyByError } from '../../src/shared/classify-by-error.js';
import {
  AttemptTimeoutError,
  BusyError,
  RateLimitExceededError,
  RuntimeClosedError,
} from '../../src/shared/errors.js';
import { StorageBackpressureError } from '../../src/shared/kv-errors.js';
import {
  KvBufferFullError,
  KvRecordError,
  KvWriterClosedError,
} from '../../src/shared/kv-writer-errors.js';
import { isVerdict, type Verdict, verdictKind } from '../../src/shared/verdict.js';
import type { Gate } from '../../src/workers/gate.js';
import type { Classifier } from '../../src/workers/outcome.js';
import { createVirtualGates, ended, type VirtualGates } from './virtual-gate.js';

let gates: VirtualGates;
let gate: Gate;
beforeEach(() => {
  gates = createVirtualGates({ host: { rpcs: { read: { qpsPerCore: 0 } } } });
  gate = gates.gate();
});

const thrown = (error: unknown): Verdict => classifyByError({ ok: false, error });

describe('classifyByError', () => {
  it('takes an answer for a success and an error for a failure', () => {
    expect(classifyByError({ ok: true, value: undefined })).toBe('success');
    expect(thrown(new Error('down'))).toBe('failure');
    expect(thrown(undefined)).toBe('failure');
    expect(
      thrown(new AttemptTimeoutError('', { attempt: 1, timeoutMs: 1, phase: 'attempt' })),
    ).toBe('failure');
  });

  it('takes a BusyError for BUSY, with its hint', () => {
    expect(thrown(new BusyError('b'))).toBe('busy');
    expect(thrown(new BusyError('b', { retryAfterMs: 5 }))).toEqual({
      kind: 'busy',
      retryAfterMs: 5,
    });
    expect(thrown(new BusyError('b', { retryAfterMs: Number.NaN }))).toBe('busy');
  });

  it('takes the refusal of a store for BUSY and the hard rejection of its bucket', () => {
    expect(thrown(new StorageBackpressureError(''))).toEqual({ kind: 'busy', pressure: 1 });
  });

  it('takes nothing that was refused here for the downstream’s fault', () => {
    const refusal = new RateLimitExceededError('', { retryAfterMs: 1, stage: 'host' });
    expect(thrown(refusal)).toBe('ignored');
    expect(thrown(new RuntimeClosedError())).toBe('ignored');
    const full = new KvBufferFullError('', { bufferedBytes: 1, bufferBytes: 1 });
    expect(thrown(full)).toBe('ignored');
    expect(thrown(new KvRecordError('', { storageCode: 3 }))).toBe('ignored');
    expect(thrown(new KvWriterClosedError('', { outcome: 'not-taken' }))).toBe('ignored');
  });
});

it('knows a verdict from what is none', () => {
  const good: Verdict[] = [
    'success',
    'busy',
    'failure',
    'ignored',
    { kind: 'refused', retryAfterMs: 0 },
    { kind: 'failure', retryAfterMs: Number.POSITIVE_INFINITY },
  ];
  expect(good.map(isVerdict)).not.toContain(false);
  expect(good.map(verdictKind)).toEqual([
    'success',
    'busy',
    'failure',
    'ignored',
    'refused',
    'failure',
  ]);
  const bad = [
    undefined,
    null,
    'refused',
    'SUCCESS',
    true,
    {},
    { kind: 'refused' },
    { kind: 'success', retryAfterMs: 5 },
    { kind: 'busy', retryAfterMs: -1 },
    { kind: 'busy', retryAfterMs: Number.NaN },
    { kind: 'busy', retryAfterMs: '5' },
    Promise.resolve('success'),
  ];
  expect(bad.map(isVerdict)).not.toContain(true);
});

describe('the caller’s own abort', () => {
  it.each([
    ['an AbortError', () => new DOMException('gone', 'AbortError')],
    ['a string', () => 'gone'],
    ['nothing', () => undefined],
    ['an error with a code', () => Object.assign(new Error('x'), { code: 'UND_ERR_ABORTED' })],
    ['what looks like a failure', () => new Error('socket hang up')],
  ])('is ignored, with %s, and opens no circuit', async (_, makeError) => {
    let told = 0;
    const address = '10.0.0.7:80';
    for (let i = 0; i < 20; i += 1) {
      const abort = new AbortController();
      const classify: Classifier = () => {
        told += 1;
        return 'failure';
      };
      const options = { rpc: 'read', address, signal: abort.signal, classify };
      const call = gate.call(options, async () => {
        abort.abort(makeError());
        throw makeError();
      });
      await call.then(
        () => expect.unreachable(),
        () => undefined,
      );
    }
    expect(told).toBe(0);
    expect(gate.breaker(address).state()).toMatchObject({
      state: 'closed',
      consecutiveFailures: 0,
    });
    expect(gates.counted('IGNORED')).toBe(20);
    expect(gates.counted('FAILURE')).toBe(0);
  });

  it('that comes too late leaves a success a success', async () => {
    const abort = new AbortController();
    const call = gate.call({ rpc: 'read', signal: abort.signal }, async () => {
      abort.abort();
      return 'done';
    });
    expect(await call).toBe('done');
    expect(gates.counted('SUCCESS')).toBe(1);
  });

  it('is not an abort that somebody else made', async () => {
    const call = gate.call({ rpc: 'read', signal: new AbortController().signal }, async () => {
      throw new DOMException('their own', 'AbortError');
    });
    await expect(call).rejects.toThrow('their own');
    expect(gates.counted('FAILURE')).toBe(1);
  });
});

describe('a classifier', () => {
  it('sees what a transport success really is', async () => {
    const classify: Classifier<{ code: number }> = (outcome) =>
      outcome.ok && outcome.value.code === 0 ? 'success' : 'failure';
    const reply = { code: 500 };
    expect(await gate.call({ rpc: 'read', classify }, () => reply)).toBe(reply);
    expect(gates.counted('FAILURE')).toBe(1);
  });

  it('may be the thread’s; the call’s own wins', async () => {
    const strict = gates.gate({ classify: () => 'busy' });
    await strict.call({ rpc: 'read' }, () => 1);
    await strict.call({ rpc: 'read', classify: () => 'ignored' }, () => 1);
    expect(gates.snapshot().rpcs[0]).toMatchObject({ busy: 1 });
    expect(gates.counted('IGNORED')).toBe(1);
  });

  it('that throws: a failure, counted, not retried; the caller sees what was thrown and why', async () => {
    const fault = new Error('classifier bug');
    const classify = (): never => {
      throw fault;
    };
    const retry = { maxAttempts: 5, baseDelayMs: 1 };
    const value = { some: 'reply' };
    const call = gate.call({ rpc: 'read', classify, retry }, () => value);
    expect(
      await ended(
        gates,
        call.catch((error: unknown) => error),
      ),
    ).toBe(fault);
    expect(fault.cause).toEqual({ ok: true, value });
    expect(gates.counted('CLASSIFIER_FAULTS')).toBe(1);
    expect(gates.counted('FAILURE')).toBe(1);
    expect(gates.snapshot().rpcs[0]).toMatchObject({ calls: 1 });
    expect(gates.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it('may throw what takes no cause', async () => {
    for (const fault of ['text', undefined, Object.freeze(new Error('frozen'))]) {
      const call = gate.call(
        {
          rpc: 'read',
          classify() {
            throw fault;
          },
        },
        () => 1,
      );
      expect(await call.catch((error: unknown) => error)).toBe(fault);
    }
    expect(gates.counted('CLASSIFIER_FAULTS')).toBe(3);
  });

  it.each([undefined, 'ok', { kind: 'refused' }, Promise.resolve('success')])(
    'that says %j has said nothing',
    async (said) => {
      const original = new Error('the attempt');
      const call = gate.call({ rpc: 'read', classify: () => said as Verdict }, () => {
        throw original;
      });
      const error = await call.catch((reason: unknown) => reason as Error);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toMatch(/^classify must return a verdict, got /);
      expect((error as Error).cause).toEqual({ ok: false, error: original });
    },
  );
});
