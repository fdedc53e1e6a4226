import { expect, it } from 'vitest';
import { Board } from '../../../src/adapters/admin/dashboard/page/model/board.js';
import { createFormats } from '../../../src/adapters/admin/dashboard/page/model/formats.js';
import { headline } from '../../../src/adapters/admin/dashboard/page/model/headline.js';
import type { CircuitSnapshot } from '../../../src/workers/snapshot.js';
import type { RuntimeState } from '../../../src/workers/state/runtime-state.js';
import { rpcSample, snapshotSample } from '../snapshot-sample.js';
import { pair, stateSample, upgrade } from './state-sample.js';

const formats = createFormats('en-GB', 'UTC');

/** Tone and sentences, names in brackets. */
function told(...states: readonly RuntimeState[]): string[] {
  const board = new Board();
  for (const state of states) board.apply(state);
  const { tone, sentences } = headline(board, formats);
  return [
    tone,
    ...sentences.map((parts) =>
      parts.map((part) => (typeof part === 'string' ? part : `[${part.name}]`)).join(''),
    ),
  ];
}

const circuit = (address: string, state: CircuitSnapshot['state']): CircuitSnapshot => ({
  address,
  state,
  isolated: false,
  consecutiveFailures: 3,
  retryAfterMs: 100,
});

it('waits', () => {
  expect(told()).toEqual(['waiting', 'Waiting for the first state of the backend']);
});

it('is calm', () => {
  expect(told(stateSample(1000))).toEqual([
    'calm',
    'All calm: no table is slowed, no circuit is open',
  ]);
});

it('names the worst table, its limit, since when and why', () => {
  const throttled = [pair('10010', { qpsLimit: 40 }), pair('10086'), pair('7', { qpsLimit: 47 })];
  const state = stateSample(125_000, {
    throttled,
    runtime: snapshotSample({ level: 2 }),
    history: [upgrade(1, 1000, 1), upgrade(2, 4000, 2, { reason: '9 BUSY in 3000 ms' })],
  });
  expect(told(state)).toEqual([
    'bad',
    '3 tables slowed, worst [commit_rowset]/[10086] at 12/s, down from 48/s, since 00:00:01 (2 min 4 s), because [412 BUSY in 3000 ms]',
  ]);
});

it('does not say that somebody waits in a dry run', () => {
  const runtime = snapshotSample({ level: 1, dryRun: { host: false, tables: true } });
  expect(
    told(stateSample(1000, { throttled: [pair('10086', { sinceMs: null })], runtime })),
  ).toEqual([
    'warn',
    '1 table would be slowed (dry run), [commit_rowset]/[10086] at 12/s, down from 48/s',
  ]);
});

it('says no more than is known', () => {
  const throttled = [pair('10086', { qpsBefore: null, sinceMs: null })];
  expect(told(stateSample(1000, { throttled }))).toEqual([
    'bad',
    '1 table slowed, [commit_rowset]/[10086] at 12/s',
  ]);
});

it('counts those that the state does not list', () => {
  const [, sentence] = told(stateSample(1, { throttled: [pair('a')], throttledTotal: 12_345 }));
  expect(sentence).toMatch(/^12,345 pairs of RPC and table slowed, worst /);
});

it('counts a table once, in however many RPC types it is slowed', () => {
  const throttled = [pair('7', { rpc: 'prepare_rowset' }), pair('7'), pair('8')];
  expect(told(stateSample(1, { throttled }))[1]).toMatch(/^2 tables \(3 pairs\) slowed, worst /);
  expect(told(stateSample(1, { throttled: throttled.slice(0, 2) }))[1]).toMatch(
    /^1 table \(2 pairs\) slowed, worst /,
  );
});

it('tells of open circuits, of full buckets, of pressure and of a silent control thread', () => {
  const breaker = { ...snapshotSample().breaker, open: 1, halfOpen: 1, tracked: 3 };
  const circuits = [circuit('10.0.0.1:1', 'closed'), circuit('10.0.0.2:1', 'open')];
  const before = snapshotSample({ rpcs: [rpcSample('get', { qpsLimit: 100 })] });
  const after = snapshotSample({
    rpcs: [rpcSample('get', { qpsLimit: 100, granted: 95 })],
    circuits,
    breaker,
    controlSilentMs: 65_000,
    pressure: [{ bucket: 'b', pressure: 0.9, remainingMs: 5 }],
    conservation: { ok: false, granted: 1, spent: 0, returned: 0, lost: 0, held: 1 },
  });
  expect(
    told(stateSample(1000, { runtime: before }), stateSample(2000, { runtime: after })),
  ).toEqual([
    'bad',
    '2 circuits open: [10.0.0.2:1] and 1 more',
    '[get] sends 95% of its host limit of 100/s',
    'storage pressure 90%',
    'the control thread has been silent for 1 min 5 s',
    'permits do not add up',
  ]);
});

it('only watches where nothing is slowed yet', () => {
  const runtime = snapshotSample({ controlSilentMs: 6000 });
  expect(told(stateSample(1, { runtime }))).toEqual([
    'warn',
    'the control thread has been silent for 6 s',
  ]);
});

it('speaks of storage where there is no runtime', () => {
  expect(told(stateSample(1, { runtime: null }))).toEqual([
    'calm',
    'All calm: storage pressure is 0%',
  ]);
});
