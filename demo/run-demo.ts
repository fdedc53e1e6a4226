import type { Runtime } from 'spillway';
import { createProgress } from './progress/show-progress.js';
import { type Report, summarise } from './report/report.js';
import { renderReportPage } from './report/report-page.js';
import { findDiscrepancies } from './run/account-check.js';
import { runLoad } from './run/run-load.js';
import { runWithSpillway } from './run/run-with-spillway.js';
import type { Scenario } from './scenario.js';

export interface DemoResult {
  readonly report: Report;
  /** The report as a page. */
  readonly page: string;
  /** What did not add up; empty when all is well. */
  readonly faults: readonly string[];
}

export interface DemoParts {
  readonly scenario: Scenario;
  /** Of the run with Spillway; stays open. */
  readonly runtime: Runtime;
  readonly quiet: boolean;
  readonly signal: AbortSignal;
}

/** The same load twice, first without Spillway, then with it. */
export async function runDemo({
  scenario,
  runtime,
  quiet,
  signal,
}: DemoParts): Promise<DemoResult> {
  const progress = createProgress(scenario, process.stdout, quiet);

  progress.begin('without Spillway');
  const without = await runLoad({
    scenario,
    handle: undefined,
    signal,
    onSample: (sample) => progress.update(sample, undefined),
  });
  progress.end();

  progress.begin('with Spillway');
  const held = await runWithSpillway({
    scenario,
    runtime,
    signal,
    onSample: (sample, limits) => progress.update(sample, limits),
  });
  progress.end();

  const report: Report = {
    without: summarise(without),
    with: summarise(held.record),
    timeline: held.timeline,
    limitsLeft: held.limitsLeft,
  };
  return {
    report,
    page: renderReportPage({ scenario, report, without, held: held.record }),
    faults: [
      ...findDiscrepancies('without Spillway', without),
      ...findDiscrepancies('with Spillway', held.record),
      ...held.faults,
    ],
  };
}
