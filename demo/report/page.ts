import type { Goal } from './goals.js';
import { escapeHtml } from './line-chart.js';
import { pageStyle } from './page-style.js';
import type { ReportRow } from './report-table.js';

export interface PageInput {
  readonly title: string;
  readonly intro: string;
  readonly rows: readonly ReportRow[];
  readonly goals: readonly Goal[];
  /** As `renderLineChart` makes them. */
  readonly charts: readonly string[];
}

/** A report as one file that needs nothing else: no script, no font, no network. */
export function renderPage({ title, intro, rows, goals, charts }: PageInput): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(intro)}</p>
<div class="tables">
<table><thead><tr><th></th><th>without</th><th>with</th></tr></thead><tbody>
${rows
  .map(
    ([name, without, held]) =>
      `<tr><th>${escapeHtml(name)}</th><td>${escapeHtml(without)}</td><td>${escapeHtml(held)}</td></tr>`,
  )
  .join('\n')}
</tbody></table>
<table><thead><tr><th>figure</th><th>got</th><th>goal</th></tr></thead><tbody>
${goals
  .map(
    ({ what, got, bound, goal, met }) =>
      `<tr><th>${escapeHtml(what)}</th><td>${got}</td><td>${bound} ${goal} <b class="${met ? 'met' : 'missed'}">${met ? 'met' : 'missed'}</b></td></tr>`,
  )
  .join('\n')}
</tbody></table>
</div>
<div class="charts">
${charts.join('\n')}
</div>
</main>
</body>
</html>
`;
}
