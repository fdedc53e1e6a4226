import type { RunRecord, TimelineEntry } from '../run/run-record.js';
import { percentile, rounded } from './figures.js';
import { type Goal, goal } from './goals.js';

export interface RunFigures {
  readonly offeredPerSecond: number;
  readonly okPerSecond: number;
  readonly busyReplies: number;
  readonly coldOkRatio: number;
  readonly coldP50Ms: number;
  readonly coldP99Ms: number;
  readonly hotOkPerSecond: number;
}

/** What `demo/out/report.json` holds. */
export interface Report {
  readonly without: RunFigures;
  readonly with: RunFigures;
  readonly timeline: readonly TimelineEntry[];
  readonly limitsLeft: number;
}

/** Rates are over the length of the load; calls that end after it count with it. */
export function summarise(run: RunRecord): RunFigures {
  const { cold, hot } = run;
  const perSecond = (count: number) => rounded((count * 1000) / run.durationMs, 1);
  return {
    offeredPerSecond: perSecond(cold.arrived + hot.arrived),
    okPerSecond: perSecond(cold.ok + hot.ok),
    busyReplies: run.busy,
    coldOkRatio: cold.arrived === 0 ? 1 : rounded(cold.ok / cold.arrived, 4),
    coldP50Ms: rounded(percentile(run.coldLatenciesMs, 0.5), 2),
    coldP99Ms: rounded(percentile(run.coldLatenciesMs, 0.99), 2),
    hotOkPerSecond: perSecond(hot.ok),
  };
}

/** The figures that the demo is there to show. A ratio over nothing counts as met. */
export function compareWithGoals(report: Report): Goal[] {
  const { without, with: held, limitsLeft } = report;
  return [
    goal('BUSY replies, with / without', held.busyReplies / without.busyReplies, 'at most', 0.2),
    goal("cold tables' ok ratio, with", held.coldOkRatio, 'at least', 0.99),
    goal("cold tables' p99, with / without", held.coldP99Ms / without.coldP99Ms, 'at most', 0.5),
    goal('total ok/s, with / without', held.okPerSecond / without.okPerSecond, 'at least', 1.2),
    goal('limits left at the end', limitsLeft, 'at most', 0),
  ];
}
