import { percentile } from '../report/figures.js';
import { renderLineChart, type Series } from '../report/line-chart.js';
import { renderPage } from '../report/page.js';
import { compareKvGoals, type KvReport, kvRows } from './kv-report.js';
import { engineTrigger, type KvScenario } from './kv-scenario.js';
import type { KvRun, KvSample } from './run-kv.js';

export interface KvPageInput {
  readonly scenario: KvScenario;
  readonly report: KvReport;
  readonly without: KvRun;
  readonly held: KvRun;
}

/** Rates and percentiles in the charts are over this time. */
const windowMs = 500;

/** The report as one file that needs nothing else. */
export function renderKvPage({ scenario, report, without, held }: KvPageInput): string {
  const { durationMs, hotValueBytes } = scenario;
  const chart = (title: string, unit: string, series: readonly Series[]) =>
    renderLineChart({ title, unit, endMs: durationMs, series });
  const both = (points: (run: KvRun) => Series['points']): Series[] => [
    { label: 'without Spillway', tone: 'without', points: points(without) },
    { label: 'with Spillway', tone: 'with', points: points(held) },
  ];
  const trigger: Series = {
    label: `RocksDB slows down, at ${engineTrigger}`,
    tone: 'limit',
    points: [
      [0, engineTrigger],
      [durationMs, engineTrigger],
    ],
  };
  const levelZero = both(({ samples }) => samples.map(({ atMs, l0Files }) => [atMs, l0Files]));
  return renderPage({
    title: 'Spillway demo: storage backpressure',
    intro: describe(scenario),
    rows: kvRows(report),
    goals: compareKvGoals(report),
    charts: [
      chart('Level 0 of the fullest bucket', 'files', [...levelZero, trigger]),
      chart(
        'Hot buckets, acknowledged',
        'MB/s',
        both(({ samples }) => rates(samples, hotValueBytes / 1e6)),
      ),
      chart(
        'Puts into calm buckets',
        'p99, ms',
        both((run) => latencies(run, durationMs)),
      ),
      chart(
        'Accepted, not in the stores yet',
        'MB',
        both(({ samples }) => samples.map(({ atMs, pendingBytes }) => [atMs, pendingBytes / 1e6])),
      ),
    ],
  });
}

function rates(samples: readonly KvSample[], each: number): [atMs: number, value: number][] {
  return samples.map((sample, index) => {
    const before = samples.slice(0, index).findLast(({ atMs }) => sample.atMs - atMs >= windowMs);
    const spanMs = sample.atMs - (before?.atMs ?? 0);
    return [sample.atMs, ((sample.hot - (before?.hot ?? 0)) * each * 1000) / Math.max(spanMs, 1)];
  });
}

/** By when the put began. */
function latencies({ threads }: KvRun, durationMs: number): [atMs: number, value: number][] {
  const windows = Array.from({ length: Math.ceil(durationMs / windowMs) }, (): number[] => []);
  for (const { calmAtMs, calmTookMs } of threads) {
    for (const [i, atMs] of calmAtMs.entries()) {
      windows[Math.floor(Math.max(0, atMs) / windowMs)]?.push(calmTookMs[i] ?? 0);
    }
  }
  return windows.map((values, i) => [(i + 0.5) * windowMs, percentile(values, 0.99)]);
}

function describe(scenario: KvScenario): string {
  const { threads, buckets, hotBuckets, hotBytesPerSecond, hotValueBytes, durationMs } = scenario;
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);
  return (
    `${threads} threads write to ${buckets} buckets of a key-value server in another process. ${hotBuckets} of them are offered ` +
    `${megabytes(hotBytesPerSecond)} MB/s each for ${durationMs / 1000} s, in values of ${hotValueBytes} bytes that do not compress, under keys in no order; ` +
    `their stores hold ${megabytes(scenario.prefillBytes)} MB to begin with. The others get small, steady puts. The same load ran twice: ` +
    'first the server let its writes wait in the engine and the clients ignored what it said, then Spillway had its way.'
  );
}
