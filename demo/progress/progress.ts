import type { Sample, TimelineEntry } from '../run/run-record.js';
import type { Scenario } from '../scenario.js';

export type RunName = 'without Spillway' | 'with Spillway';

/** Shows how a run is going. */
export interface Progress {
  begin(run: RunName): void;
  update(sample: Sample, limits: TimelineEntry | undefined): void;
  end(): void;
}

/** What one look at a run shows. */
export interface ProgressView {
  readonly run: RunName;
  readonly elapsedMs: number;
  readonly totalMs: number;
  readonly phase: 'calm' | 'flood' | 'after' | 'last answers';
  readonly busyPerSecond: number;
  readonly okPerSecond: number;
  readonly level: number;
  readonly hot: readonly HotTableView[];
}

export interface HotTableView {
  readonly table: string;
  /** Attempts per second that went to the service. */
  readonly qps: number;
  /** Over the RPC types; undefined unless each of them has one. */
  readonly limit: number | undefined;
  readonly level: number;
}

/** Rates are over the time between the two samples. */
export function viewProgress(
  run: RunName,
  scenario: Scenario,
  before: Sample | undefined,
  now: Sample,
  limits: TimelineEntry | undefined,
): ProgressView {
  const elapsedMs = now.atMs;
  const perSecond = (from: number | undefined, to: number) =>
    ((to - (from ?? 0)) * 1000) / Math.max(1, now.atMs - (before?.atMs ?? 0));
  const level = limits?.level ?? 0;
  return {
    run,
    elapsedMs,
    totalMs: scenario.durationMs,
    phase: phaseAt(scenario, elapsedMs),
    busyPerSecond: perSecond(before?.busy, now.busy),
    okPerSecond: perSecond(before?.ok, now.ok),
    level,
    hot: now.hotSent.map((sent, tableIndex) => {
      const table = scenario.tableIds[tableIndex] ?? '';
      const limit = tableLimit(limits, table);
      return {
        table,
        qps: perSecond(before?.hotSent[tableIndex], sent),
        limit,
        level: limit === undefined ? 0 : level,
      };
    }),
  };
}

function phaseAt(scenario: Scenario, atMs: number): ProgressView['phase'] {
  if (atMs > scenario.durationMs) return 'last answers';
  if (atMs >= scenario.floodToMs) return 'after';
  return atMs < scenario.floodFromMs ? 'calm' : 'flood';
}

/** The limits of a table's RPC types together; undefined where it has none. */
export function tableLimit(entry: TimelineEntry | undefined, table: string): number | undefined {
  const own = entry?.limits.filter((limit) => limit.table === table) ?? [];
  if (own.length === 0) return undefined;
  return own.reduce((sum, { qpsLimit }) => sum + qpsLimit, 0);
}
