import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PressureMonitor } from '../../src/adapters/pressure/pressure-monitor.js';
import { eventLoopUtilization, queueLength } from '../../src/adapters/pressure/pressure-source.js';

describe('the length of a queue', () => {
  it('rises evenly from where the pressure begins to where it is full', () => {
    let length = 0;
    const source = queueLength(() => length, { from: 10, full: 20 });
    const at = [0, 10, 12, 15, 20, 30].map((n) => {
      length = n;
      return source.pressure(undefined);
    });
    expect(at).toEqual([0, 0, 0.2, 0.5, 1, 1]);
  });

  it('may differ from bucket to bucket', () => {
    const lengths: Record<string, number> = { a: 5, b: 0 };
    const source = queueLength((bucket = '') => lengths[bucket] ?? 10, { from: 0, full: 10 });
    expect([source.pressure('a'), source.pressure('b'), source.pressure(undefined)]).toEqual([
      0.5, 0, 1,
    ]);
  });

  it.each([
    [{ from: 5, full: 5 }, /^from must be below full \(5\), got 5/],
    [{ from: Number.NaN, full: 5 }, /^from must be finite, got NaN/],
    [{ from: 0, full: '5' }, /^full must be a number, got '5'/],
    [{ from: 0, full: 5, max: 5 }, /^max is no option/],
    [undefined, /^ramp must be \{ from, full \}, got undefined/],
  ])('refuses the ramp %j', (ramp, message) => {
    expect(() => queueLength(() => 0, ramp as never)).toThrow(message);
  });

  it('refuses what is no function', () => {
    expect(() => queueLength(5 as never, { from: 0, full: 1 })).toThrow(/^read must be a function/);
  });
});

describe('the utilization of the event loop', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is measured while a server uses it, and by one timer for all of them', () => {
    let busy = 0.9;
    const source = eventLoopUtilization({ from: 0.8, full: 1, sampleMs: 100, measure: () => busy });
    expect(vi.getTimerCount()).toBe(0);
    expect(source.pressure(undefined)).toBe(0);
    const stop = source.start?.();
    const stopOther = source.start?.();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(100);
    expect(source.pressure(undefined)).toBeCloseTo(0.5);
    busy = 1;
    vi.advanceTimersByTime(99);
    expect(source.pressure(undefined)).toBeCloseTo(0.5);
    vi.advanceTimersByTime(1);
    expect(source.pressure(undefined)).toBe(1);
    stop?.();
    stop?.();
    expect(vi.getTimerCount()).toBe(1);
    stopOther?.();
    expect(vi.getTimerCount()).toBe(0);
    expect(source.pressure(undefined)).toBe(0);
  });

  it.each([0, Number.NaN, -1])('refuses to be measured every %d ms', (sampleMs) => {
    expect(() => eventLoopUtilization({ sampleMs })).toThrow(
      /^sampleMs must be from 1 to 86400000/,
    );
  });

  it.each([
    [{ sampleMs: '5' }, /^sampleMs must be a number, got '5'/],
    [{ from: '0.5' }, /^from must be a number, got '0.5'/],
    [{ samplems: 5 }, /^samplems is no option/],
  ])('refuses %j', (options, message) => {
    expect(() => eventLoopUtilization(options as never)).toThrow(message);
  });

  it('takes what is undefined for the default', () => {
    const source = eventLoopUtilization({ from: undefined, full: undefined } as never);
    expect(source.pressure(undefined)).toBe(0);
  });

  it('is a number from 0 to 1 where it is really measured', () => {
    const source = eventLoopUtilization({ from: 0, full: 1, sampleMs: 1 });
    const stop = source.start?.();
    vi.advanceTimersByTime(5);
    const pressure = source.pressure(undefined);
    expect(pressure >= 0 && pressure <= 1).toBe(true);
    stop?.();
  });
});

const SOURCE = { pressure: (): number => 0 };

function raise(message: string): never {
  throw new Error(message);
}

function unreadable(): Error {
  return Object.defineProperty(new Error('hidden'), 'message', { get: () => raise('not for you') });
}

/** Those that come until `done`, which gives them the time to. */
function unhandledRejections() {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
  const done = async (): Promise<void> => {
    await new Promise<void>((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    for (const other of others) process.on('unhandledRejection', other);
  };
  return { unhandled, done };
}

describe('several sources', () => {
  const monitor = (...said: (() => unknown)[]) => {
    const faults: unknown[] = [];
    const source = said.map((pressure) => ({ pressure: pressure as () => number }));
    const made = new PressureMonitor({ source, onFault: (error) => faults.push(error) });
    return { made, faults };
  };
  const nobody = { bucket: undefined };

  it('count by the highest, and what is out of range as the nearer end', () => {
    expect(
      monitor(
        () => 0.2,
        () => 0.7,
        () => 0.5,
      ).made.pressure(nobody),
    ).toBe(0.7);
    expect(
      monitor(
        () => 7,
        () => 0.5,
      ).made.pressure(nobody),
    ).toBe(1);
    expect(monitor(() => -1).made.pressure(nobody)).toBe(0);
  });

  it('count for nothing when they fail, and are reported once each', () => {
    const { made, faults } = monitor(
      () => {
        throw new Error('broken');
      },
      () => Number.NaN,
      () => 'high',
      () => 0.5,
    );
    for (let i = 0; i < 3; i += 1) expect(made.pressure(nobody)).toBe(0.5);
    expect(faults.map((fault) => (fault as Error).message)).toEqual([
      'broken',
      'a source must return a pressure from 0 to 1, got NaN',
      "a source must return a pressure from 0 to 1, got 'high'",
    ]);
  });

  it('are not harmed by who is told, and callbacks that fail neither', () => {
    const made = new PressureMonitor<number>({
      source: { pressure: () => Number.NaN },
      bucket: () => {
        throw new Error('no bucket');
      },
      exempt: () => {
        throw new Error('no exemption');
      },
      onFault: () => {
        throw new Error('nobody listens');
      },
    });
    expect(made.watch(1)).toEqual({ bucket: undefined });
    expect(made.pressure(nobody)).toBe(0);
  });

  it('count for nothing when they take time to come, and end no process when that fails', async () => {
    const { unhandled, done } = unhandledRejections();
    const fails = async (): Promise<never> => {
      throw new Error('late');
    };
    const faults: unknown[] = [];
    const made = new PressureMonitor<number>({
      source: [{ pressure: fails as never }, queueLength(fails as never, { from: 0, full: 1 })],
      bucket: (() => fails()) as never,
      exempt: (() => fails()) as never,
      onFault: (error) => {
        faults.push(error);
        return fails();
      },
    });
    expect(made.watch(1)).toEqual({ bucket: undefined });
    expect(made.pressure(nobody)).toBe(0);
    expect(faults.map((fault) => (fault as Error).message)).toEqual([
      'exempt must return at once, got a promise',
      'bucket must return at once, got a promise',
      'a source must return a pressure from 0 to 1, got [object Promise] (object)',
      'a source must return a pressure from 0 to 1, got [object Promise] (object)',
    ]);
    await done();
    expect(unhandled).toEqual([]);
  });

  it.each([
    ['no text', () => Object.create(null)],
    ['a message that cannot be read', unreadable],
    ['a symbol', () => Symbol('broken')],
  ])('are reported also when what they throw has %s', (_what, make) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    const pressure = () => {
      throw make();
    };
    expect(new PressureMonitor({ source: { pressure } }).pressure(nobody)).toBe(0);
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });

  it.each([
    ['throws', 'no meter', () => raise('no meter')],
    ['gives no function', /^start\(\) of a source must return a function, got 5/, () => 5],
    [
      'gives a promise',
      /must return a function, got \[object Promise\]/,
      async () => raise('late'),
    ],
  ])('are all stopped when the start of one %s', async (_what, message, start) => {
    const { unhandled, done } = unhandledRejections();
    const stop = vi.fn();
    const source = [
      { ...SOURCE, start: () => stop },
      { ...SOURCE, start: start as never },
    ];
    expect(() => new PressureMonitor({ source }).start()).toThrow(message);
    expect(stop).toHaveBeenCalledOnce();
    await done();
    expect(unhandled).toEqual([]);
  });

  it('are all stopped although one fails to, which is reported', async () => {
    const { unhandled, done } = unhandledRejections();
    const faults: unknown[] = [];
    const stop = vi.fn();
    const stops = [() => raise('stuck'), async () => raise('stuck later'), stop];
    const made = new PressureMonitor({
      source: stops.map((one) => ({ ...SOURCE, start: () => one as () => void })),
      onFault: (error) => faults.push(error),
    });
    made.start();
    made.close();
    made.close();
    expect(stop).toHaveBeenCalledOnce();
    expect(faults).toEqual([new Error('stuck')]);
    await done();
    expect(unhandled).toEqual([]);
  });

  it('are reported by a warning of the process where nobody else is told', async () => {
    const warning = new Promise<Error>((resolve) => process.once('warning', resolve));
    new PressureMonitor({ source: { pressure: () => Number.NaN } }).pressure(nobody);
    expect((await warning).message).toContain('a source of pressure counts for nothing: ');
  });

  it.each([
    [{ source: [] }, /^source must be one or more objects with a pressure\(\), got undefined/],
    [{ source: [SOURCE, 5] }, /^source must be one or more .* got 5/],
    [{}, /^source must be one or more/],
    [{ source: SOURCE, hardLimit: 0 }, /^hardLimit must be above 0, got 0/],
    [{ source: SOURCE, hardLimit: Number.NaN }, /^hardLimit must be above 0/],
    [{ source: SOURCE, retryAfterMs: -1 }, /^retryAfterMs must be from 0 to/],
    [{ source: SOURCE, bucket: 'a' }, /^bucket must be a function, got 'a'/],
    [{ source: SOURCE, limit: 1 }, /^limit is no option/],
  ])('are refused as %j', (options, message) => {
    expect(() => new PressureMonitor(options as never)).toThrow(message);
  });
});
