import { percentile, rounded } from '../report/figures.js';
import { type Goal, goal } from '../report/goals.js';
import type { ReportRow } from '../report/report-table.js';
import { engineTrigger, type KvScenario } from './kv-scenario.js';
import type { KvRun } from './run-kv.js';
import type { WriteResult } from './write-thread.js';

export interface KvFigures {
  /** Most level-0 files of a bucket that were seen. */
  readonly maxL0: number;
  /** How long RocksDB held writers up. */
  readonly stallMs: number;
  /** Of the thread that serves RPCs. */
  readonly loopP99Ms: number;
  /** Puts into calm buckets, from the call until it was acknowledged. */
  readonly calmP50Ms: number;
  readonly calmP99Ms: number;
  /** Acknowledged of the hot buckets while the load ran, 10^6 bytes of values a second. */
  readonly hotMBps: number;
  /** Batches that the server refused. */
  readonly refusals: number;
  /** Keys whose newest acknowledged value was not there afterwards. */
  readonly lost: number;
}

/** What `--json` writes. */
export interface KvReport {
  readonly without: KvFigures;
  readonly with: KvFigures;
}

export function summariseKv(run: KvRun, scenario: KvScenario): KvFigures {
  const { samples, server, threads } = run;
  const calm = threads.flatMap(({ calmTookMs }) => calmTookMs);
  const hotBytes = total(threads, 'hotAcknowledged') * scenario.hotValueBytes;
  return {
    maxL0: samples.reduce((most, { l0Files }) => Math.max(most, l0Files), 0),
    stallMs: rounded(server.stallMs, 0),
    loopP99Ms: rounded(server.loopP99Ms, 1),
    calmP50Ms: rounded(percentile(calm, 0.5), 1),
    calmP99Ms: rounded(percentile(calm, 0.99), 1),
    hotMBps: rounded(hotBytes / 1e6 / (scenario.durationMs / 1000), 2),
    refusals: server.refusals,
    lost: run.readBack.lost,
  };
}

/** What must be so whatever the machine; empty when all is well. */
export function findKvFaults(run: KvRun, scenario: KvScenario, withSpillway: boolean): string[] {
  const name = withSpillway ? 'with Spillway' : 'without Spillway';
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string) => {
    if (!holds) faults.push(`${name}: ${fault}`);
  };
  const { threads, readBack } = run;
  const { lost, stallMs, maxL0 } = summariseKv(run, scenario);
  const calm = threads.reduce((sum, { calmTookMs }) => sum + calmTookMs.length, 0);
  const failure = threads.find((thread) => thread.failure !== undefined)?.failure;
  expect(lost === 0, `${lost} of ${readBack.keys} acknowledged keys were lost`);
  expect(total(threads, 'failed') === 0, `${total(threads, 'failed')} puts failed: ${failure}`);
  expect(total(threads, 'hotAcknowledged') > 0, 'nothing was acknowledged of the hot buckets');
  expect(
    calm === total(threads, 'calmOffered'),
    `${total(threads, 'calmOffered')} puts into calm buckets, but ${calm} acknowledged`,
  );
  const settled = run.threads.reduce(
    (sum, { hotShed, hotSettled }) => sum + hotShed + hotSettled,
    0,
  );
  expect(
    settled === total(threads, 'hotOffered'),
    `${total(threads, 'hotOffered')} puts into hot buckets, but ${settled} shed or settled`,
  );
  expect(readBack.keys > 0, 'nothing was read back');
  if (!withSpillway) return faults;
  expect(stallMs === 0, `the engine stalled for ${stallMs} ms`);
  expect(
    maxL0 < engineTrigger,
    `level 0 had ${maxL0} files, and the engine stalls at ${engineTrigger}`,
  );
  return faults;
}

const rows: readonly (readonly [string, (figures: KvFigures) => string])[] = [
  ['most level-0 files', (figures) => String(figures.maxL0)],
  ['engine stalls, ms', (figures) => String(figures.stallMs)],
  ['event loop delay p99, ms', (figures) => figures.loopP99Ms.toFixed(1)],
  ['calm buckets: p50, ms', (figures) => figures.calmP50Ms.toFixed(1)],
  ['calm buckets: p99, ms', (figures) => figures.calmP99Ms.toFixed(1)],
  ['hot buckets: MB/s', (figures) => figures.hotMBps.toFixed(2)],
  ['batches refused', (figures) => String(figures.refusals)],
  ['acknowledged and lost', (figures) => String(figures.lost)],
];

export function kvRows(report: KvReport): ReportRow[] {
  return rows.map(([name, text]) => [name, text(report.without), text(report.with)]);
}

/** The figures that the demo is there to show. */
export function compareKvGoals(report: KvReport): Goal[] {
  const { without, with: held } = report;
  const loops =
    without.loopP99Ms > 20
      ? [
          goal(
            'event loop p99, with / without',
            held.loopP99Ms / without.loopP99Ms,
            'at most',
            1 / 3,
          ),
        ]
      : [];
  return [
    goal('most level-0 files, without', without.maxL0, 'at least', engineTrigger),
    goal('most level-0 files, with', held.maxL0, 'at most', engineTrigger - 1),
    goal('engine stalls, with', held.stallMs, 'at most', 0),
    goal('event loop p99, with', held.loopP99Ms, 'at most', 20),
    ...loops.map((one) => ({ ...one, goal: rounded(one.goal, 3) })),
    goal('calm p99, with / without', held.calmP99Ms / without.calmP99Ms, 'at most', 0.5),
    goal('hot MB/s, with / without', held.hotMBps / without.hotMBps, 'at least', 0.9),
    goal('acknowledged and lost, both', without.lost + held.lost, 'at most', 0),
  ];
}

type Count = 'hotOffered' | 'hotShed' | 'hotAcknowledged' | 'calmOffered' | 'failed';

function total(threads: readonly WriteResult[], count: Count): number {
  return threads.reduce((sum, thread) => sum + thread[count], 0);
}
