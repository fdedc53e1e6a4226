import type { HotTableView, ProgressView } from './progress.js';

const barWidth = 30;

/** The bar and the small table of hot tables, as lines. */
export function renderFrame(view: ProgressView): string[] {
  const done = Math.round(Math.min(1, view.elapsedMs / view.totalMs) * barWidth);
  const bar = '█'.repeat(done) + '░'.repeat(barWidth - done);
  return [
    `${view.run.padEnd(17)}${bar} ${seconds(view.elapsedMs)} of ${seconds(view.totalMs)} s  ${view.phase}`,
    `${view.okPerSecond.toFixed(0).padStart(7)} ok/s ${view.busyPerSecond.toFixed(0).padStart(7)} BUSY/s`,
    '  hot table      qps    limit  level',
    ...view.hot.map(
      (hot) =>
        `  ${hot.table.padEnd(9)}${hot.qps.toFixed(0).padStart(9)}${limitText(hot).padStart(9)}${String(hot.level).padStart(7)}`,
    ),
  ];
}

/** The same on one line, for a log. */
export function renderLine(view: ProgressView): string {
  const hot = view.hot.map(
    (table) => `${table.table}: ${table.qps.toFixed(0)} qps, limit ${limitText(table)}`,
  );
  return [
    `${view.run}: ${seconds(view.elapsedMs)} of ${seconds(view.totalMs)} s, ${view.phase}`,
    `${view.okPerSecond.toFixed(0)} ok/s, ${view.busyPerSecond.toFixed(0)} BUSY/s, level ${view.level}`,
    ...hot,
  ].join('; ');
}

function limitText({ limit }: HotTableView): string {
  return limit === undefined ? 'none' : limit.toFixed(1);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
