import { tableLimit } from '../progress/progress.js';
import type { RunRecord, Sample, TimelineEntry } from '../run/run-record.js';
import type { Scenario } from '../scenario.js';
import { renderLineChart, type Series } from './line-chart.js';
import { renderPage } from './page.js';
import { compareWithGoals, type Report } from './report.js';
import { reportRows } from './report-table.js';

export interface ReportPageInput {
  readonly scenario: Scenario;
  readonly report: Report;
  readonly without: RunRecord;
  readonly held: RunRecord;
}

/** Rates in the charts are over this time: finer is noise of single calls. */
const rateWindowMs = 500;

/** The report as one file that needs nothing else: no script, no font, no network. */
export function renderReportPage({ scenario, report, without, held }: ReportPageInput): string {
  const endMs = Math.max(
    scenario.durationMs,
    report.timeline.at(-1)?.atMs ?? 0,
    without.samples.at(-1)?.atMs ?? 0,
    held.samples.at(-1)?.atMs ?? 0,
  );
  const frame = {
    endMs,
    flood: [scenario.floodFromMs, scenario.floodToMs] as const,
  };
  const both = (count: (sample: Sample) => number): Series[] => [
    { label: 'without Spillway', tone: 'without', points: rates(without.samples, count) },
    { label: 'with Spillway', tone: 'with', points: rates(held.samples, count) },
  ];
  const hotTables = scenario.tableIds.slice(0, scenario.hotTables);
  const charts = [
    renderLineChart({
      ...frame,
      title: 'BUSY replies',
      unit: 'per second',
      series: both((sample) => sample.busy),
    }),
    renderLineChart({
      ...frame,
      title: 'Calls that ended well',
      unit: 'per second',
      series: both((sample) => sample.ok),
    }),
    ...hotTables.map((table, index) =>
      renderLineChart({
        ...frame,
        title: `Hot table ${table}`,
        unit: 'QPS, both RPC types, with Spillway',
        series: [
          {
            label: 'calls that arrived',
            tone: 'offered',
            points: rates(held.samples, (sample) => sample.hotArrived[index] ?? 0),
          },
          {
            label: 'attempts sent',
            tone: 'with',
            points: rates(held.samples, (sample) => sample.hotSent[index] ?? 0),
          },
          {
            label: 'limit',
            tone: 'limit',
            steps: true,
            points: report.timeline.map((entry) => [entry.atMs, tableLimit(entry, table)]),
          },
        ],
      }),
    ),
    renderLineChart({
      ...frame,
      title: 'Cold tables together',
      unit: 'attempts sent per second',
      series: both((sample) => sample.coldSent),
    }),
    renderLineChart({
      ...frame,
      title: 'Upgrade level',
      unit: 'with Spillway',
      series: [{ label: 'level', tone: 'limit', steps: true, points: levels(report.timeline) }],
    }),
  ];
  return renderPage({
    title: 'Spillway demo report',
    intro: describeScenario(scenario),
    rows: reportRows(report),
    goals: compareWithGoals(report),
    charts,
  });
}

function describeScenario(scenario: Scenario): string {
  const { capacityPerSecond, threads, tableIds, durationMs, floodFromMs, floodToMs } = scenario;
  return (
    `${threads} client threads call a metadata service that can do ${capacityPerSecond} RPC/s; a refusal costs it 20 % of a call. ` +
    `${tableIds.length} tables, Zipf-skewed; two of them flood from ${floodFromMs / 1000} s to ${floodToMs / 1000} s of ${durationMs / 1000} s. ` +
    'The same seeded load ran twice, first without Spillway, then with it.'
  );
}

/** Differences over a sliding window, per second. */
function rates(
  samples: readonly Sample[],
  count: (sample: Sample) => number,
): [atMs: number, value: number][] {
  return samples.map((sample, index) => {
    let from = index;
    while (from > 0 && sample.atMs - (samples[from]?.atMs ?? 0) < rateWindowMs) from -= 1;
    const before = samples[from];
    const sinceStart = from === 0 || before === undefined;
    const spanMs = sample.atMs - (sinceStart ? 0 : before.atMs);
    const counted = count(sample) - (sinceStart ? 0 : count(before));
    return [sample.atMs, spanMs <= 0 ? 0 : (counted * 1000) / spanMs];
  });
}

function levels(timeline: readonly TimelineEntry[]): [atMs: number, value: number][] {
  return timeline.map(({ atMs, level }) => [atMs, level]);
}
