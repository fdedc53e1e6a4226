import { describe, expect, it } from 'vitest';
import { reconnectDelayMs } from '../../../src/adapters/admin/dashboard/page/model/backoff.js';
import { valueTicks } from '../../../src/adapters/admin/dashboard/page/model/chart-scale.js';
import { circuitRows } from '../../../src/adapters/admin/dashboard/page/model/circuits.js';
import { describeEvent } from '../../../src/adapters/admin/dashboard/page/model/describe-event.js';
import { createFormats } from '../../../src/adapters/admin/dashboard/page/model/formats.js';
import { linkStatus } from '../../../src/adapters/admin/dashboard/page/model/link-status.js';
import { rpcRates } from '../../../src/adapters/admin/dashboard/page/model/rpc-rates.js';
import {
  Series,
  unbroken,
  valueAt,
} from '../../../src/adapters/admin/dashboard/page/model/series.js';
import { throttleStack } from '../../../src/adapters/admin/dashboard/page/model/throttle-stack.js';
import { RUNTIME_EVENTS } from '../../../src/workers/runtime-events.js';
import type { CircuitSnapshot } from '../../../src/workers/snapshot.js';
import type { RecordedEvent } from '../../../src/workers/state/runtime-state.js';
import { rpcSample } from '../snapshot-sample.js';
import { downgrade, upgrade } from './state-sample.js';

const formats = createFormats('en-GB', 'UTC');

describe('formats', () => {
  it.each([
    [0, '0'],
    [0.126, '0.13'],
    [12.34, '12.3'],
    [123.4, '123'],
    [1_234_567, '1,234,567'],
    [Number.NaN, '\u2013'],
    [Number.POSITIVE_INFINITY, '\u2013'],
  ])('number %d is %s', (value, text) => expect(formats.number(value)).toBe(text));

  it.each([
    [-5, '0 ms'],
    [0.8, '0.8 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [61_000, '1 min 1 s'],
    [120_000, '2 min'],
    [7_440_000, '2 h 4 min'],
    [86_400_000 * 3 + 5000, '3 d'],
    [86_400_000 * 1200 + 3_600_000, '1,200 d 1 h'],
    [Number.NaN, '\u2013'],
  ])('%d ms last %s', (ms, text) => expect(formats.duration(ms)).toBe(text));

  it.each([
    [0, '0 B'],
    [1023, '1,023 B'],
    [1536, '1.5 KiB'],
    [5 * 1024 ** 5, '5,120 TiB'],
  ])('%d bytes are %s', (bytes, text) => expect(formats.bytes(bytes)).toBe(text));

  it('tells the day only where it is another one', () => {
    const noon = Date.UTC(2026, 2, 1, 12);
    expect(formats.time(noon, noon + 5)).toBe('12:00:00');
    expect(formats.time(noon, noon + 86_400_000)).toBe('1 Mar 12:00:00');
    expect(formats.time(Number.NaN, noon)).toBe('\u2013');
    expect(createFormats('en-GB', 'Asia/Tokyo').time(noon, noon)).toBe('21:00:00');
  });
});

describe('series', () => {
  it('is bounded in time, and keeps what holds where its window begins', () => {
    const series = new Series(1000);
    for (const atMs of [0, 400, 900, 1600]) series.push(atMs, atMs);
    expect(series.points.map(([atMs]) => atMs)).toEqual([400, 900, 1600]);
    series.trim(10_000);
    expect(series.points).toEqual([[1600, 1600]]);
  });

  it('takes no point that is not newer, or no number', () => {
    const series = new Series();
    series.push(5, 1);
    series.push(5, 2);
    series.push(4, 2);
    series.push(6, Number.NaN);
    series.push(7, Number.POSITIVE_INFINITY);
    expect(series.points).toEqual([[5, 1]]);
  });

  it('is bounded in number', () => {
    const series = new Series();
    for (let i = 0; i < 5000; i++) series.push(i, i);
    expect(series.points).toHaveLength(1200);
    expect(series.last).toEqual([4999, 4999]);
  });

  it('has gaps where nothing came', () => {
    const points = [0, 1000, 9000, 10_000].map((atMs): [number, number] => [atMs, 1]);
    expect(unbroken(points, 5000).map((line) => line.length)).toEqual([2, 2]);
    expect(unbroken([], 5000)).toEqual([]);
  });
});

describe('axis', () => {
  it.each([
    [0, 3, 0.01, [0, 0.01]],
    [12, 3, 0.01, [0, 5, 10, 15]],
    [3, 3, 1, [0, 1, 2, 3]],
    [0.3, 3, 0.01, [0, 0.1, 0.2, 0.3]],
    [1, 3, 0.5, [0, 0.5, 1]],
    [99_999, 3, 1, [0, 50_000, 100_000]],
  ])('up to %d', (max, count, finest, ticks) => {
    expect(valueTicks(max, count, finest)).toEqual(ticks);
  });
});

describe('upgrades in force', () => {
  const seqs = (stack: ReturnType<typeof throttleStack>): number[] =>
    stack.known.map(({ seq }) => seq);

  it('are those that no downgrade has undone, the newest first', () => {
    const history = [upgrade(1, 0, 1), upgrade(2, 1, 2), downgrade(3, 2, 1), upgrade(4, 3, 2)];
    expect(seqs(throttleStack(history, 2))).toEqual([4, 1]);
  });

  it('end when limits are switched off', () => {
    const lifted = { ...downgrade(3, 2, 0), kind: 'lifted' } as const;
    expect(seqs(throttleStack([upgrade(1, 0, 1), upgrade(2, 1, 2), lifted], 0))).toEqual([]);
  });

  it('are none that found nothing to slow', () => {
    const idle = upgrade(1, 0, 0, { changes: [], changed: 0 });
    expect(seqs(throttleStack([idle, upgrade(2, 1, 1), { ...idle, seq: 3, level: 1 }], 1))).toEqual(
      [2],
    );
  });

  it('are no more than there are levels, where the oldest were taken together', () => {
    const history = [upgrade(1, 0, 1), upgrade(2, 1, 2), upgrade(3, 2, 2), upgrade(4, 3, 2)];
    expect(seqs(throttleStack(history, 2))).toEqual([4, 3]);
    expect(seqs(throttleStack([...history, downgrade(5, 4, 1)], 1))).toEqual([3]);
    expect(seqs(throttleStack(history, 0))).toEqual([]);
  });

  it('may be older than the history', () => {
    const stack = throttleStack([downgrade(7, 0, 3), upgrade(8, 1, 4)], 4);
    expect(seqs(stack)).toEqual([8]);
    expect(stack.unknown).toBe(3);
  });
});

it('has no value where the last one is too old', () => {
  expect(valueAt([], 0, 100)).toBeUndefined();
  const points = [[10, 1] as const, [50, 2] as const];
  expect(valueAt(points, 150, 100)).toBe(2);
  expect(valueAt(points, 151, 100)).toBeUndefined();
  expect(valueAt(points, 1e9, Number.POSITIVE_INFINITY)).toBe(2);
});

describe('circuits', () => {
  const circuit = (address: string, parts: Partial<CircuitSnapshot> = {}): CircuitSnapshot => ({
    address,
    state: 'closed',
    isolated: false,
    consecutiveFailures: 1,
    retryAfterMs: 0,
    ...parts,
  });
  const opened = (seq: number, address: string, reason: 'failures' | 'probe-failed') =>
    ({
      seq,
      atMs: seq,
      name: 'circuit-open',
      event: { address, reason, failures: 3, retryAfterMs: 5, atMs: seq * 10 },
    }) as const;

  it('stand with the reason of their last opening, the open ones first', () => {
    const rows = circuitRows(
      [
        circuit('a', { consecutiveFailures: 2 }),
        circuit('b', { state: 'half_open' }),
        circuit('c', { state: 'open', isolated: true }),
        circuit('d', { state: 'open' }),
        circuit('e', { consecutiveFailures: 5 }),
      ],
      // Each probe that fails opens it anew.
      [opened(1, 'd', 'failures'), opened(2, 'd', 'probe-failed'), opened(3, 'b', 'failures')],
    );
    expect(
      rows.map(({ address, reason, openedMs, failures }) => [address, reason, openedMs, failures]),
    ).toEqual([
      ['c', 'opened by hand', undefined, undefined],
      ['d', 'probe failed', 10, 3],
      ['b', 'calls failed', 30, 3],
      ['e', undefined, undefined, 5],
      ['a', undefined, undefined, 2],
    ]);
  });

  it('lose their reason when they close', () => {
    const closed = {
      seq: 2,
      atMs: 2,
      name: 'circuit-closed',
      event: { address: 'a', reason: 'probed', atMs: 2 },
    } as const;
    const [row] = circuitRows([circuit('a')], [opened(1, 'a', 'failures'), closed]);
    expect(row?.reason).toBeUndefined();
    const again = [opened(1, 'a', 'failures'), closed, opened(3, 'a', 'failures')];
    expect(circuitRows([circuit('a', { state: 'open' })], again)[0]?.openedMs).toBe(30);
  });
});

describe('host buckets', () => {
  const wait = (count: number, sumNs: number) => ({ count, sumNs, buckets: [] });

  it('are measured between two states', () => {
    const before = rpcSample('get', { granted: 100, refused: 1, hostWait: wait(10, 1e6) });
    const after = rpcSample('get', {
      qpsLimit: 100,
      granted: 280,
      refused: 3,
      hostWait: wait(20, 41e6),
    });
    expect(rpcRates(before, after, 2000)).toEqual({
      rpc: 'get',
      qpsLimit: 100,
      burst: 0,
      granted: 90,
      busy: 0,
      refused: 1,
      waits: 5,
      meanWaitMs: 4,
      use: 0.9,
      nearLimit: true,
    });
  });

  it('know nothing at first, and are near no limit where there is none', () => {
    const after = rpcSample('get', { granted: 280 });
    expect(rpcRates(undefined, after, 1)).toMatchObject({ granted: 0, meanWaitMs: undefined });
    expect(rpcRates(rpcSample('get'), after, 1)).toMatchObject({
      use: undefined,
      nearLimit: false,
    });
  });
});

describe('link', () => {
  it.each([
    ['opening', undefined, 99, 'connecting'],
    ['down', undefined, 99, 'connecting'],
    ['stream', 0, 3000, 'connected'],
    ['stream', 0, 3001, 'stale'],
    ['polling', 0, 6000, 'connected'],
    ['polling', 0, 6001, 'stale'],
    ['down', 0, 1, 'stale'],
    ['denied', 0, 1, 'denied'],
    ['stream', 5000, 0, 'connected'],
  ] as const)('%s, updated at %s, is at %d %s', (kind, updatedMs, nowMs, status) => {
    expect(linkStatus({ kind, updatedMs }, nowMs).kind).toBe(status);
    expect(linkStatus({ kind, updatedMs }, nowMs).ageMs ?? 0).toBeGreaterThanOrEqual(0);
  });

  it('is tried again after growing, bounded delays', () => {
    expect([1, 2, 3, 4, 5, 6, 99].map((failures) => reconnectDelayMs(failures, 1))).toEqual([
      500, 1000, 2000, 4000, 8000, 10_000, 10_000,
    ]);
    expect(reconnectDelayMs(1, 0)).toBe(250);
  });
});

describe('events', () => {
  const { cause: reason, changes, changed, level } = upgrade(1, 0, 1);
  const limit = { rpc: 'get', table: '7', qpsLimit: 2.5, resetReservation: false } as const;
  const change = { level, changes, changed, reason, atMs: 0, actions: [] };
  const events: Parameters<typeof describeEvent>[0][] = (
    [
      { name: 'upgrade', event: { ...change, actions: [{ type: 'set_limit', ...limit }] } },
      { name: 'downgrade', event: { ...change, actions: [{ ...limit, type: 'remove_limit' }] } },
      { name: 'lifted', event: change },
      {
        name: 'circuit-open',
        event: { address: 'a:1', reason: 'failures', failures: 3, retryAfterMs: 5000, atMs: 0 },
      },
      { name: 'circuit-half-open', event: { address: 'a:1', atMs: 0 } },
      { name: 'circuit-closed', event: { address: 'a:1', reason: 'probed', atMs: 0 } },
      { name: 'config', event: { version: 2 } },
      { name: 'thread-attached', event: { threads: 2, threadId: 5 } },
      { name: 'thread-ended', event: { threads: 1, threadId: null } },
      {
        name: 'control-restart',
        event: { generation: 2, restarts: 1, level: 0, reason: 'out of memory' },
      },
      { name: 'kernel-fallback', event: { reason: 'no shared memory' } },
      { name: 'directory-full', event: { used: 4, capacity: 4, calls: 9 } },
      { name: 'addresses-full', event: { failures: 3 } },
      { name: 'ring-drops', event: { records: 5, busy: 4, other: 1 } },
      { name: 'calls-refused', event: { rpc: 'get', stage: 'host', refused: 8 } },
      { name: 'closed', event: {} },
    ] as const
  ).map((event, i) => ({ seq: i + 1, atMs: 0, ...event }) as RecordedEvent);

  it('are put into words, each kind', () => {
    expect(new Set(events.map(({ name }) => name))).toEqual(new Set(RUNTIME_EVENTS));
    expect(events.map((event) => describeEvent(event, formats).text)).toEqual([
      'level 1: get/7 to 2.5/s',
      'level 1: get/7 free',
      'level 1: no table',
      'a:1: calls failed (3), probe in 5 s',
      'a:1: one call tries it',
      'a:1: probe succeeded',
      'version 2 in force',
      'thread 5, 2 attached now',
      'a thread, 1 attached now',
      'control thread 2 has taken over: out of memory',
      'no shared memory',
      '9 calls went through uncounted: all 4 pairs are in use',
      'no room for 3 failures of further addresses',
      'the control thread is behind by 5 records',
      'get: host-level limit refused 8 calls',
      'the runtime has been closed',
    ]);
  });

  it('of a kind that is not known show what they hold', () => {
    const event = { seq: 1, atMs: 0, name: 'new', event: { a: 1 } } as unknown as RecordedEvent;
    expect(describeEvent(event, formats)).toEqual({ tone: 'quiet', text: '{"a":1}' });
  });
});
