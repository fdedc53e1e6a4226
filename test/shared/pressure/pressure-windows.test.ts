import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DirectoryKeeper } from '../../../src/shared/directory-keeper.js';
import { KeyDirectory, keyDirectoryBytes } from '../../../src/shared/key-directory.js';
import { BucketPlace, PressureWindows } from '../../../src/shared/pressure/pressure-windows.js';
import {
  ThrottleWindows,
  throttleWindowMs,
} from '../../../src/shared/pressure/throttle-windows.js';
import { BUCKET_SPACE } from '../../../src/shared/pressure/window-cells.js';
import { WindowKeeper } from '../../../src/shared/pressure/window-keeper.js';

const EPOCH = 0;
const BASE = 64;
const MS = 1e6;

/** Windows as several threads see them, and the control thread's keeper of them. */
function create(capacity = 64) {
  const buffer = new SharedArrayBuffer(BASE + keyDirectoryBytes(capacity));
  const directory = new KeyDirectory(buffer, BASE, capacity);
  let epochs = 0;
  const quiescence = { request: () => ++epochs, passed: () => true };
  const cells = new DirectoryKeeper(buffer, BASE, capacity, quiescence);
  const keeper = new WindowKeeper({ buffer, directory, keeper: cells });
  const thread = () => {
    const own = new KeyDirectory(buffer, BASE, capacity);
    const windows = new PressureWindows({ buffer, directory: own, epoch: EPOCH });
    const places = new Map<string, BucketPlace>();
    const placeOf = (bucket: string): BucketPlace => {
      const place = places.get(bucket) ?? new BucketPlace(bucket);
      places.set(bucket, place);
      return place;
    };
    return {
      signal(bucket: string, pressure: number, nowMs: number, maxMs = 3000) {
        if (Number.isNaN(pressure)) return undefined;
        const windowMs = throttleWindowMs(pressure, maxMs);
        return windows.signal(placeOf(bucket), pressure, windowMs, nowMs * MS).effect;
      },
      remainingMs(bucket: string, nowMs: number): number {
        const place = placeOf(bucket);
        if (windows.isCalm(place)) return 0;
        const window = windows.window(place, nowMs * MS);
        return window === undefined ? 0 : window.endNs / MS - nowMs;
      },
    };
  };
  const settle = (): void => {
    for (let i = 0; i < 100 && cells.maintain() !== 'idle'; i += 1);
  };
  return { directory, keeper, thread, settle };
}

describe('pressure windows in the arena', () => {
  it('say what the windows of one client say, whichever thread is told or asked', () => {
    const pressures = fc.oneof(
      fc.double({ min: -0.5, max: 1.5 }),
      fc.constantFrom(0, 1, 7, -1, Number.NaN, Number.POSITIVE_INFINITY),
    );
    const steps = fc.array(
      fc.record({
        kind: fc.constantFrom('signal', 'ask', 'ask', 'sweep'),
        bucket: fc.constantFrom('a', 'b', 'c'),
        thread: fc.nat(2),
        pressure: pressures,
        passMs: fc.nat(800),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const { keeper, thread, settle } = create();
        const threads = [thread(), thread(), thread()];
        const model = new ThrottleWindows(3000);
        let nowMs = 1;
        for (const step of all) {
          nowMs += step.passMs;
          const one = threads[step.thread];
          if (step.kind === 'signal') {
            one?.signal(step.bucket, step.pressure, nowMs);
            model.signal(step.bucket, step.pressure, nowMs);
          } else if (step.kind === 'sweep') {
            keeper.sweep(nowMs * MS);
            settle();
          }
          for (const asked of threads)
            expect(asked.remainingMs(step.bucket, nowMs)).toBe(
              model.remainingMs(step.bucket, nowMs),
            );
        }
      }),
    );
  });

  it('never last longer than they say, whatever part of a tick it is', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (nowMs) => {
        const one = create(2).thread();
        one.signal('a', 1, nowMs, 100);
        const left = one.remainingMs('a', nowMs);
        expect(left).toBeLessThanOrEqual(100);
        expect(left).toBeGreaterThan(99.9);
      }),
    );
  });

  it('take no memory when they are over or lifted: 10,000 of them, then none', () => {
    const { directory, keeper, thread, settle } = create(10_000);
    const [one, other] = [thread(), thread()];
    for (let i = 0; i < 10_000; i += 1) one.signal(`bucket-${i}`, i % 2 === 0 ? 0.5 : 1, 0);
    expect(directory.use()).toMatchObject({ used: 10_000, overflow: 0 });
    expect(keeper.sweep(749 * MS).removed).toBe(0);
    expect(keeper.sweep(750 * MS).removed).toBe(5000);
    expect(one.remainingMs('bucket-0', 750)).toBe(0);
    expect(other.remainingMs('bucket-1', 750)).toBe(2250);
    for (let i = 1; i < 10_000; i += 2) other.signal(`bucket-${i}`, 0, 800);
    expect(keeper.sweep(800 * MS).removed).toBe(5000);
    settle();
    expect(directory.use().used).toBe(0);
    one.signal('bucket-1', 1, 900);
    expect(other.remainingMs('bucket-1', 900)).toBe(3000);
  });

  it('leave what is not theirs alone', () => {
    const { directory, keeper } = create();
    directory.findOrInsert(0, 'table');
    directory.findOrInsert(BUCKET_SPACE - 1, 'other');
    expect(keeper.sweep(1e12).removed).toBe(0);
    expect(directory.use().used).toBe(2);
  });

  it('are none where there is no room, and others stay', () => {
    const { thread, directory } = create(2);
    const one = thread();
    expect(['a', 'b', 'c'].map((bucket) => one.signal(bucket, 1, 0))).toEqual([
      'opened',
      'opened',
      'full',
    ]);
    expect(directory.use().overflow).toBe(1);
    expect(['a', 'b', 'c'].map((bucket) => one.remainingMs(bucket, 0))).toEqual([3000, 3000, 0]);
    expect(one.signal('c', 0, 0)).toBe('none');
    expect(one.signal('a', 0, 0)).toBe('lifted');
    expect(one.signal('a', 0, 0)).toBe('none');
  });

  it('are cut to a new bound, and never become longer by it', () => {
    const { keeper, thread } = create();
    const one = thread();
    one.signal('a', 1, 0);
    one.signal('b', 0.1, 0);
    keeper.shorten(500, 10 * MS);
    expect(one.remainingMs('a', 10)).toBe(500);
    expect(one.remainingMs('b', 10)).toBe(20);
    keeper.shorten(5000, 10 * MS);
    expect(one.remainingMs('a', 10)).toBe(500);
    keeper.shorten(0, 10 * MS);
    expect(one.remainingMs('a', 10)).toBe(0);
  });
});
