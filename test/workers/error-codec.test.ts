import { connect } from 'node:net';
import { runInNewContext } from 'node:vm';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import * as errors from '../../src/shared/errors.js';
import { decodeError, encodeError, type WireThrown } from '../../src/workers/error-codec.js';

const { port1, port2 } = new MessageChannel();
afterAll(() => port1.close());

function sendAcross(thrown: unknown): unknown {
  port1.postMessage(encodeError(thrown));
  const received: { message: WireThrown } | undefined = receiveMessageOnPort(port2);
  return decodeError(received?.message as WireThrown);
}

const SAMPLES: errors.SpillwayError[] = [
  new errors.SpillwayError('ERR_SPILLWAY_X', 'x'),
  new errors.RateLimitExceededError('too long', {
    retryAfterMs: 12.5,
    stage: 'table',
    rpc: 'commit_rowset',
    table: '10086',
  }),
  new errors.RateLimitExceededError('pressed', {
    retryAfterMs: 750,
    stage: 'pressure',
    bucket: 'shard-1',
  }),
  new errors.BusyError('busy', { retryAfterMs: 7 }),
  new errors.CircuitOpenError('open', { address: 'host:80', retryAfterMs: 7 }),
  new errors.AttemptTimeoutError('slow', { attempt: 2, timeoutMs: 50, phase: 'attempt' }),
  new errors.DeadlineExceededError('late', { deadlineMs: 100, attempts: 2 }),
  new errors.ConfigError('x must be > 0, got NaN', {
    field: 'x',
    rule: 'must be > 0',
    value: Number.NaN,
  }),
  new errors.ConfigConflictError('version 3 is in force', { version: 3 }),
  new errors.RuntimeClosedError(),
  new errors.NoRuntimeError(),
  new errors.HandleVersionError('other version'),
  new errors.UnknownRpcError('unknown', { rpc: 'nope' }),
  new errors.TooManyThreadsError('full'),
  new errors.WorkerLostError('gone'),
  new errors.IllegalStateError('twice'),
  new errors.AskTimeoutError('late'),
  new errors.MailboxOverflowError('full'),
  new errors.ActorStoppedError('stopped'),
];

describe('our errors across threads', () => {
  it('has a sample of every exported class', () => {
    const classes = Object.values(errors).filter((e) => /^class /.test(String(e)));
    const sampled = SAMPLES.map((sample) => sample.constructor);
    expect(new Set(sampled)).toEqual(new Set(classes));
  });

  it.each(SAMPLES.map((sample) => [sample.name, sample] as const))(
    '%s keeps class, name, code, message, stack and fields',
    (name, sample) => {
      const received = sendAcross(sample) as errors.SpillwayError;
      expect(received).toBeInstanceOf(sample.constructor);
      expect(received).toBeInstanceOf(errors.SpillwayError);
      expect(errors.isSpillwayError(received)).toBe(true);
      expect(received.name).toBe(name);
      expect(received.message).toBe(sample.message);
      expect(received.stack).toBe(sample.stack);
      expect(Object.entries(received)).toEqual(Object.entries(sample));
      expect(Object.keys(received)).toEqual(Object.keys(sample));
    },
  );

  it('keeps the cause chain, also when its links are of different classes', () => {
    const root = Object.assign(new RangeError('root'), { code: 'E_ROOT' });
    const middle = new errors.BusyError('middle', {}, { cause: root });
    const received = sendAcross(new errors.WorkerLostError('top', { cause: middle })) as Error;
    expect(received.cause).toBeInstanceOf(errors.BusyError);
    const end = (received.cause as Error).cause;
    expect(end).toBeInstanceOf(RangeError);
    expect(end).toMatchObject({ message: 'root', code: 'E_ROOT' });
    expect(Object.keys(received)).not.toContain('cause');
  });

  it('makes an error of another copy of the package one of this copy', () => {
    const brand = Symbol.for('spillway.error');
    const foreign = (name: string): Error =>
      Object.defineProperties(Object.assign(new Error('theirs'), { code: 'ERR_SPILLWAY_BUSY' }), {
        name: { value: name },
        [brand]: { value: true },
      });
    expect(sendAcross(foreign('BusyError'))).toBeInstanceOf(errors.BusyError);
    const newer = sendAcross(foreign('NewerError'));
    expect(newer).toBeInstanceOf(errors.SpillwayError);
    expect(newer).toMatchObject({ name: 'NewerError', code: 'ERR_SPILLWAY_BUSY' });
  });
});

describe('other errors', () => {
  it('keeps an AggregateError and what is in it', () => {
    const aggregate = new AggregateError(
      [new errors.RuntimeClosedError(), new TypeError('t'), 'text', undefined],
      'all failed',
    );
    const received = sendAcross(aggregate) as AggregateError;
    expect(received).toBeInstanceOf(AggregateError);
    expect(received.message).toBe('all failed');
    expect(received.errors[0]).toBeInstanceOf(errors.RuntimeClosedError);
    expect(received.errors[1]).toBeInstanceOf(TypeError);
    expect(received.errors.slice(2)).toEqual(['text', undefined]);
  });

  it('keeps an AbortError', () => {
    const reason = AbortSignal.abort().reason as DOMException;
    const received = sendAcross(reason) as DOMException;
    expect(received).toBeInstanceOf(DOMException);
    expect(received).toMatchObject({ name: 'AbortError', code: 20, message: reason.message });
  });

  it('keeps name, code and fields of a class that it does not know, and its built-in base', () => {
    class TooLoud extends TypeError {
      override readonly name = 'TooLoud';
      readonly volume = 11;
      get code(): string {
        return 'E_LOUD';
      }
    }
    const received = sendAcross(new TooLoud('!'));
    expect(received).toBeInstanceOf(TypeError);
    expect(received).toMatchObject({ name: 'TooLoud', volume: 11, code: 'E_LOUD', message: '!' });
  });

  it('keeps plain data in fields: dates, bytes, bigints, nested objects and errors', () => {
    const at = new Date(5);
    const fields = {
      at,
      bytes: Buffer.from('hello'),
      id: 2n ** 70n,
      nothing: undefined,
      nested: { list: [1, { deep: null }], inner: new RangeError('in') },
      [Symbol('left out')]: 1,
      ['__proto__x']: 1,
    };
    const received = sendAcross(Object.assign(new Error('e'), fields)) as Error & typeof fields;
    expect(received).toMatchObject({ at, id: 2n ** 70n, nothing: undefined });
    expect(Buffer.from(received.bytes).toString()).toBe('hello');
    expect(received.nested.list).toEqual([1, { deep: null }]);
    expect(received.nested.inner).toBeInstanceOf(RangeError);
    expect(Object.hasOwn(received, 'nothing')).toBe(true);
  });

  it('carries what cannot be cloned as text', () => {
    const socket = connect({ port: 1, host: '127.0.0.1' }).on('error', () => {});
    socket.destroy();
    const error = Object.assign(new Error('e'), {
      socket,
      retry: function again() {},
      arrow: () => 1,
      tag: Symbol('t'),
      seen: new Map([[1, 2]]),
      later: Promise.resolve(),
      shared: new SharedArrayBuffer(8),
    });
    expect(sendAcross(error)).toMatchObject({
      message: 'e',
      socket: '[Socket]',
      retry: '[function again]',
      arrow: '[function arrow]',
      tag: '[Symbol(t)]',
      seen: '[Map]',
      later: '[Promise]',
      shared: '[SharedArrayBuffer]',
    });
  });

  it('ends cycles', () => {
    const error = new Error('loop') as Error & { self?: unknown; list?: unknown };
    error.self = { error };
    error.cause = error;
    const list: unknown[] = [];
    list.push(list);
    error.list = list;
    expect(sendAcross(error)).toMatchObject({
      self: { error: '[circular]' },
      cause: '[circular]',
      list: ['[circular]'],
    });
  });

  it('takes an error of another realm for an error', () => {
    const foreign: unknown = runInNewContext("Object.assign(new TypeError('far'), { code: 'E' })");
    expect(foreign).not.toBeInstanceOf(Error);
    expect(sendAcross(foreign)).toBeInstanceOf(Error);
    expect(sendAcross(foreign)).toMatchObject({ name: 'TypeError', message: 'far', code: 'E' });
  });

  it.each([undefined, null, 0, -0, 'text', 5n, Number.NaN, true])(
    'gives back %s as it was',
    (value) => {
      expect(sendAcross(value)).toBe(value);
    },
  );

  it('never throws, whatever the error does', () => {
    const hostile = new Error('x');
    Object.defineProperty(hostile, 'stack', { value: 5 });
    Object.defineProperty(hostile, 'message', {
      get() {
        throw new Error('message');
      },
    });
    Object.defineProperty(hostile, 'trap', {
      enumerable: true,
      get() {
        throw new Error('trap');
      },
    });
    expect(sendAcross(hostile)).toMatchObject({ message: '', trap: '[unreadable]' });
    const refuse = () => {
      throw new Error('trap');
    };
    const proxy = new Proxy(new Error('p'), {
      get: refuse,
      ownKeys: refuse,
      getPrototypeOf: refuse,
      has: refuse,
      getOwnPropertyDescriptor: refuse,
    });
    expect(() => sendAcross(proxy)).not.toThrow();
    expect(() => sendAcross(Object.assign(new Error('e'), { proxy }))).not.toThrow();
    expect(() => decodeError(undefined as never)).not.toThrow();
    expect(() => decodeError({ thrown: { kind: 'error', error: null } })).not.toThrow();
  });

  it('is bounded in size', () => {
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]));
    let deep: Error = new Error('root');
    for (let i = 0; i < 1000; i += 1) deep = new Error('link', { cause: deep });
    for (const error of [
      Object.assign(new Error('m'.repeat(1e7)), { s: 's'.repeat(1e7), b: Buffer.alloc(1e7) }),
      Object.assign(new Error('wide'), wide),
      Object.assign(new Error('list'), { list: new Array(2 ** 31) }),
      deep,
      new AggregateError(Array.from({ length: 20_000 }, (_, i) => new Error(`${i}`))),
    ]) {
      const wire = encodeError(error);
      expect(JSON.stringify(wire).length).toBeLessThan(300_000);
      expect(sendAcross(error)).toBeInstanceOf(Error);
    }
  });

  it('carries any value in a field to an error that says the same', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withSparseArray: true }),
        (value) => {
          const received = sendAcross(Object.assign(new Error('e'), { value }));
          expect(received).toBeInstanceOf(Error);
          if (typeof value !== 'object') expect(received).toHaveProperty('value', value);
        },
      ),
      { numRuns: 500 },
    );
  });
});
