import type { Goal } from './goals.js';
import { compareWithGoals, type Report, type RunFigures } from './report.js';

const rows: readonly (readonly [string, (figures: RunFigures) => string])[] = [
  ['offered, calls/s', (figures) => figures.offeredPerSecond.toFixed(1)],
  ['ok, calls/s', (figures) => figures.okPerSecond.toFixed(1)],
  ['BUSY replies', (figures) => String(figures.busyReplies)],
  ['cold tables: ok ratio', (figures) => figures.coldOkRatio.toFixed(4)],
  ['cold tables: p50, ms', (figures) => figures.coldP50Ms.toFixed(1)],
  ['cold tables: p99, ms', (figures) => figures.coldP99Ms.toFixed(1)],
  ['hot tables: ok, calls/s', (figures) => figures.hotOkPerSecond.toFixed(1)],
];

/** Name, value without and value with Spillway. */
export type ReportRow = readonly [name: string, without: string, held: string];

/** In the order in which they are shown. */
export function reportRows(report: Report): ReportRow[] {
  return rows.map(([name, text]) => [name, text(report.without), text(report.with)]);
}

/** The table at the end of the demo, and below it the figures that it is there to show. */
export function renderReportTable(report: Report): string {
  return renderTable(reportRows(report), compareWithGoals(report));
}

export function renderTable(shown: readonly ReportRow[], goals: readonly Goal[]): string {
  const line = ([name, without, held]: ReportRow) =>
    `${name.padEnd(26)}${without.padStart(12)}${held.padStart(12)}`;
  return [
    line(['', 'without', 'with']),
    '-'.repeat(50),
    ...shown.map(line),
    '-'.repeat(50),
    ...goals.map(
      ({ what, got, bound, goal, met }) =>
        `${what.padEnd(34)}${String(got).padStart(8)}  ${bound} ${goal}: ${met ? 'met' : 'MISSED'}`,
    ),
    '',
  ].join('\n');
}
