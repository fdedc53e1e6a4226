import { expect, it } from 'vitest';
import { Board } from '../../../src/adapters/admin/dashboard/page/model/board.js';
import { snapshotSample } from '../snapshot-sample.js';
import { configEvent, downgrade, pair, stateSample, upgrade } from './state-sample.js';

const busy = (total: number, level = 0) =>
  snapshotSample({ level, throttle: { ...snapshotSample().throttle, busy: total } });

const tableOf = (line: { readonly table: string }): string => line.table;

it('measures BUSY answers between two states, per second', () => {
  const board = new Board();
  board.apply(stateSample(1000, { runtime: busy(100) }));
  board.apply(stateSample(2000, { runtime: busy(130) }));
  board.apply(stateSample(4000, { runtime: busy(130) }));
  expect(board.busy.points).toEqual([
    [2000, 30],
    [4000, 0],
  ]);
});

it('leaves out a state that is older than the one shown', () => {
  const board = new Board();
  board.apply(stateSample(2000, { runtime: busy(9) }));
  board.apply(stateSample(1000, { runtime: busy(1) }));
  expect(board.state?.atMs).toBe(2000);
  expect(board.busy.points).toEqual([]);
});

it('begins anew with another runtime', () => {
  const board = new Board();
  board.apply(
    stateSample(900_000, {
      events: [configEvent(7, 1)],
      history: [upgrade(1, 5, 1)],
      runtime: busy(50, 1),
    }),
  );
  board.apply(
    stateSample(1000, { runtimeId: 'two', events: [configEvent(1, 2)], runtime: busy(3) }),
  );
  expect(board.state?.runtimeId).toBe('two');
  expect(board.events.map(({ seq }) => seq)).toEqual([1]);
  expect(board.lastSeq).toBe(1);
  expect(board.history).toEqual([]);
  expect(board.level.points).toEqual([[1000, 0]]);
  expect(board.pairs.free()).toEqual([]);
});

it('takes events once and in order, from states and from the stream', () => {
  const board = new Board();
  board.apply(stateSample(1, { events: [configEvent(2, 0), configEvent(3, 0)] }));
  board.record(configEvent(5, 0));
  board.record(configEvent(4, 0));
  board.record(configEvent(5, 0));
  board.apply(stateSample(2, { events: [1, 2, 3].map((seq) => configEvent(seq, 0)) }));
  board.apply(stateSample(3, { events: [] }));
  expect(board.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
});

it('is bounded', () => {
  const board = new Board();
  for (let i = 1; i <= 3000; i++) {
    board.record(configEvent(i, i));
    board.apply(
      stateSample(i * 1000, {
        throttled: [pair(String(i)), pair(`other ${i}`)],
        history: [upgrade(i, i * 1000 - 500, 1, { changes: [] })],
      }),
    );
  }
  expect(board.events).toHaveLength(1000);
  expect(board.events[0]?.seq).toBe(2001);
  expect(board.history).toHaveLength(1000);
  expect(board.level.points.length).toBeLessThanOrEqual(1202);
  expect(board.level.points[0]?.[0]).toBeGreaterThanOrEqual(3000_000 - 601_000);
  expect(board.pairs.free().length).toBeLessThanOrEqual(100);
});

it('knows from the history what was before the page was opened', () => {
  const board = new Board();
  board.apply(
    stateSample(60_000, {
      history: [upgrade(1, 10_000, 1), downgrade(2, 40_000, 0)],
      runtime: busy(0),
    }),
  );
  expect(board.level.points).toEqual([
    [10_000, 1],
    [40_000, 0],
    [60_000, 0],
  ]);
  const [line] = board.pairs.free();
  expect(line?.limit.points.slice(0, 2)).toEqual([
    [10_000, 12],
    [40_000, 0],
  ]);
  expect(line?.qps.points).toEqual([[10_000, 48]]);
});

it('draws a limit while it holds, and no longer', () => {
  const board = new Board();
  board.apply(stateSample(1000, { throttled: [pair('a')] }));
  board.apply(stateSample(2000, { throttled: [pair('a', { qpsLimit: 9, currentQps: 20 })] }));
  board.apply(stateSample(3000));
  expect(board.pairs.of('commit_rowset', 'a')).toMatchObject({ throttled: false });
  expect(board.pairs.of('commit_rowset', 'a')?.limit.points).toEqual([
    [1000, 12],
    [2000, 9],
    [3000, 0],
  ]);
  expect(board.pairs.of('commit_rowset', 'a')?.qps.points).toEqual([
    [1000, 30],
    [2000, 20],
  ]);
  board.apply(stateSample(3000 + 600_000));
  expect(board.pairs.of('commit_rowset', 'a')).toBeUndefined();
});

it('draws who is asked for most now before who was', () => {
  const board = new Board();
  const hot = (table: string, qps: number) => ({ rpc: 'commit_rowset', table, qps });
  board.apply(stateSample(1000, { hottest: [hot('gone', 1000), hot('a', 20)] }));
  for (let i = 2; i <= 4; i++) board.apply(stateSample(i * 1000, { hottest: [hot('a', 20)] }));
  // One list without it may be chance.
  expect(board.pairs.free().map(tableOf)).toEqual(['gone', 'a']);
  for (let i = 5; i <= 7; i++)
    board.apply(stateSample(i * 1000, { hottest: [hot('a', 20), hot('b', 3)] }));
  expect(board.pairs.free().map(tableOf)).toEqual(['a', 'b', 'gone']);
});

it('draws the hottest pairs too, after those that were slowed', () => {
  const board = new Board();
  const hot = (table: string, qps: number) => ({ rpc: 'commit_rowset', table, qps });
  board.apply(
    stateSample(1000, {
      throttled: [pair('a')],
      hottest: [hot('b', 80), hot('a', 31), hot('c', 2)],
    }),
  );
  expect(board.pairs.of('commit_rowset', 'a')?.qps.points).toEqual([[1000, 30]]);
  board.apply(stateSample(2000, { hottest: [hot('c', 90), hot('b', 70), hot('a', 20)] }));
  expect(board.pairs.of('commit_rowset', 'a')?.qps.points).toEqual([
    [1000, 30],
    [2000, 20],
  ]);
  expect(board.pairs.free().map(tableOf)).toEqual(['a', 'c', 'b']);
  expect(board.pairs.of('commit_rowset', 'b')?.limit.points).toEqual([]);
  board.apply(stateSample(2000 + 600_001));
  expect(board.pairs.free()).toEqual([]);
});

it('puts the most severe pair first, however the backend sorts', () => {
  const board = new Board();
  board.apply(
    stateSample(1, {
      throttled: [
        pair('half', { qpsLimit: 24 }),
        pair('unknown', { qpsBefore: null, qpsLimit: 20, currentQps: 30 }),
        pair('tenth', { qpsLimit: 5, qpsBefore: 50 }),
        pair('rising', { qpsLimit: 24, currentQps: 480 }),
      ],
    }),
  );
  expect(board.throttled.map(tableOf)).toEqual(['rising', 'tenth', 'half', 'unknown']);
});

it('says when the history is behind the events', () => {
  const board = new Board();
  board.apply(stateSample(1000));
  const told = upgrade(1, 1500, 1);
  const { cause: reason, changes, changed, level } = told;
  board.record({
    seq: 1,
    atMs: 1501,
    name: 'upgrade',
    event: { level, atMs: 1500, actions: [], changes, changed, reason },
  });
  expect(board.historyBehind).toBe(true);
  board.apply(stateSample(2000, { history: [told] }));
  expect(board.historyBehind).toBe(false);
});

it('shows a process without a runtime', () => {
  const board = new Board();
  const stats = {
    table: 't',
    maxPressure: 0.4,
    rejections: 0,
    records: 0,
    bytes: 0,
    flushes: { count: 0, sumNs: 0, buckets: [] },
    flushedRecords: 0,
    flushRetries: 0,
    pendingBytes: 0,
    preWriteEntries: 0,
    maxL0Files: 3,
    buckets: [],
  };
  board.apply(
    stateSample(1000, { runtime: null, stores: [{ name: 's', tables: [stats], logBytes: 0 }] }),
  );
  expect(board.pressure.last).toEqual([1000, 0.4]);
  expect(board.rates).toEqual([]);
});
