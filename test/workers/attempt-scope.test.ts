import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AttemptContext, AttemptScope } from '../../src/workers/attempt-scope.js';
import { createVirtualHost, type VirtualHost } from './virtual-host.js';

let host: VirtualHost;
let late: number;
beforeEach(() => {
  host = createVirtualHost();
  late = 0;
});

const scope = (caller?: AbortSignal): AttemptScope =>
  new AttemptScope(host, 1, caller, () => {
    late += 1;
  });
const bound = (atMs: number, why = 'too slow') => ({
  atNs: atMs * 1e6,
  exceeded: () => new Error(why),
});
const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

function defer<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}

describe('an attempt in time', () => {
  it('gives what it comes to, at once when it takes no time', async () => {
    expect(scope().run(() => 5, bound(10))).toBe(5);
    expect(() =>
      scope().run(() => {
        throw new RangeError('no');
      }, bound(10)),
    ).toThrow(RangeError);
    expect(host.time.pendingTimers).toBe(0);
    expect(await scope().run(async () => 6, bound(10))).toBe(6);
    await expect(scope().run(() => Promise.reject(new Error('no')), bound(10))).rejects.toThrow(
      'no',
    );
    expect(host.time.pendingTimers).toBe(0);
    expect(late).toBe(0);
  });

  it('takes a thenable for a promise, also one that misbehaves', async () => {
    const thenable = {
      // biome-ignore lint/suspicious/noThenProperty: that is the point
      then(resolve: (value: number) => void, reject: (reason: unknown) => void) {
        resolve(7);
        reject(new Error('again'));
        throw new Error('and again');
      },
    };
    expect(await scope().run(() => thenable as unknown as Promise<number>, bound(10))).toBe(7);
    const trap = Object.defineProperty({}, 'then', {
      get() {
        throw new Error('a trap');
      },
    });
    expect(() => scope().run(() => trap as Promise<number>, bound(10))).toThrow('a trap');
    expect(host.time.pendingTimers).toBe(0);
  });
});

describe('an attempt that takes too long', () => {
  it('is left behind at its time, and its late end changes nothing', async () => {
    for (const end of ['resolve', 'reject'] as const) {
      const deferred = defer<string>();
      const from = host.time.nowMs;
      const ran = scope().run(() => deferred.promise, bound(from + 50));
      const ended = expect(ran).rejects.toThrow('too slow');
      await host.time.advanceToAsync(from + 50);
      await ended;
      expect(late).toBe(end === 'resolve' ? 0 : 1);
      deferred[end]('late');
      await host.time.settleAsync();
    }
    expect(late).toBe(2);
    expect(host.time.pendingTimers).toBe(0);
  });

  it('hears so by its signal, whenever it asked for it', async () => {
    let early: AbortSignal | undefined;
    let context: AttemptContext | undefined;
    const hang = (given: AttemptContext, ask: boolean): Promise<never> => {
      context = given;
      if (ask) early = given.signal;
      return new Promise(() => undefined);
    };
    for (const ask of [true, false]) {
      const ran = scope().run((given) => hang(given, ask), bound(host.time.nowMs + 5));
      const ended = expect(ran).rejects.toThrow('too slow');
      await host.time.advanceToAsync(host.time.nowMs + 5);
      await ended;
      expect(context?.signal?.aborted).toBe(true);
      expect(context?.signal?.reason).toMatchObject({ message: 'too slow' });
    }
    expect(early?.reason).toMatchObject({ message: 'too slow' });
  });

  it('can be given another bound while it runs, and none once it has ended', async () => {
    const deferred = defer<string>();
    const one = scope();
    const ran = one.run(() => {
      one.rebound(bound(20, 'from within'));
      return deferred.promise;
    }, bound(10));
    const ended = expect(ran).rejects.toThrow('later');
    await host.time.advanceToAsync(15);
    one.rebound(bound(80, 'later'));
    await host.time.advanceToAsync(79);
    expect(one.left).toBe(false);
    await host.time.advanceToAsync(80);
    await ended;
    one.rebound(bound(500));
    expect(host.time.pendingTimers).toBe(0);
  });

  it('can be left behind before its time, also from within', async () => {
    const one = scope();
    const ran = one.run(() => new Promise(() => undefined), bound(10));
    one.abandon('pointless');
    await expect(ran).rejects.toBe('pointless');
    const other = scope();
    const deferred = defer<string>();
    const within = other.run(() => {
      other.abandon('already');
      return deferred.promise;
    }, bound(10));
    await expect(within).rejects.toBe('already');
    deferred.reject(new Error('nobody hears it'));
    await host.time.settleAsync();
    expect(late).toBe(1);
    expect(host.time.pendingTimers).toBe(0);
  });
});

describe('the signal of an attempt', () => {
  it('is made only when it is asked for, and is then the same', () => {
    const caller = new AbortController();
    scope(caller.signal).run((context) => {
      expect(listeners(caller.signal)).toBe(0);
      expect(context.signal).toBe(context.signal);
      expect(context.signal).not.toBe(caller.signal);
      expect(listeners(caller.signal)).toBe(1);
    }, bound(10));
    expect(listeners(caller.signal)).toBe(0);
  });

  it('follows the caller’s while the attempt runs, not longer', async () => {
    const caller = new AbortController();
    const deferred = defer<string>();
    let signal: AbortSignal | undefined;
    const ran = scope(caller.signal).run((context) => {
      signal = context.signal;
      return deferred.promise;
    }, bound(10));
    let ended: AbortSignal | undefined;
    await scope(caller.signal).run(async (context) => {
      ended = context.signal;
    }, bound(10));
    caller.abort('gone');
    expect(signal?.reason).toBe('gone');
    expect(ended?.aborted).toBe(false);
    deferred.reject(signal?.reason);
    await expect(ran).rejects.toBe('gone');
    expect(listeners(caller.signal)).toBe(0);
  });

  it('is aborted from the start when the caller’s is', () => {
    const signal = AbortSignal.abort('before');
    scope(signal).run((context) => expect(context.signal?.reason).toBe('before'), bound(10));
  });

  it('leaves no listener behind on any path', async () => {
    const { signal } = new AbortController();
    const ask = (context: AttemptContext): boolean => context.signal?.aborted === false;
    for (let i = 0; i < 2000; i += 1) {
      const one = scope(signal);
      const kind = i % 4;
      const ran = (async () =>
        one.run(
          (context) => {
            ask(context);
            if (kind === 0) return i;
            if (kind === 1) throw new Error('no');
            return kind === 2
              ? Promise.reject(new Error('no'))
              : new Promise<number>(() => undefined);
          },
          bound(host.time.nowMs + 1),
        ))();
      ran.catch(() => undefined);
      if (kind === 3) host.time.advanceBy(1);
      await ran.catch(() => undefined);
    }
    expect(listeners(signal)).toBe(0);
    expect(host.time.pendingTimers).toBe(0);
  });
});
