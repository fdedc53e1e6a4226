import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderTable } from '../report/report-table.js';
import type { KvDemoOptions } from './kv-options.js';
import { renderKvPage } from './kv-page.js';
import { compareKvGoals, findKvFaults, type KvReport, kvRows, summariseKv } from './kv-report.js';
import { createKvScenario } from './kv-scenario.js';
import { prefillStore } from './prefill-store.js';
import { type KvRun, type KvSample, runKv } from './run-kv.js';

export interface KvDemoResult {
  readonly report: KvReport;
  readonly table: string;
  /** The report as a page. */
  readonly page: string;
  /** What did not add up; empty when all is well. */
  readonly faults: readonly string[];
}

/** Lines per run that say how it is going. */
const linesPerRun = 10;

/** The same load twice, first without Spillway, then with it. */
export async function runKvDemo(
  options: KvDemoOptions,
  signal: AbortSignal,
): Promise<KvDemoResult> {
  const scenario = createKvScenario(options);
  const print = (line: string) => {
    if (!options.quiet) console.log(line);
  };
  const filledDir = mkdtempSync(join(tmpdir(), 'spillway-demo-kv-'));
  const remove = () => rmSync(filledDir, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    print(`filling the stores of the hot buckets, ${scenario.prefillBytes / 1e6} MB each`);
    await prefillStore(filledDir, scenario, signal);
    const run = async (withSpillway: boolean): Promise<KvRun> => {
      print(withSpillway ? '\nwith Spillway' : '\nwithout Spillway');
      let shownMs = 0;
      const onSample = (sample: KvSample) => {
        if (sample.atMs - shownMs < scenario.durationMs / linesPerRun) return;
        shownMs = sample.atMs;
        print(renderSample(sample));
      };
      const record = await runKv({ scenario, withSpillway, filledDir, signal, onSample });
      print(`  ${record.readBack.keys} acknowledged keys read back, ${record.readBack.lost} lost`);
      return record;
    };
    const without = await run(false);
    const held = await run(true);
    const report = {
      without: summariseKv(without, scenario),
      with: summariseKv(held, scenario),
    };
    return {
      report,
      table: renderTable(kvRows(report), compareKvGoals(report)),
      page: renderKvPage({ scenario, report, without, held }),
      faults: [...findKvFaults(without, scenario, false), ...findKvFaults(held, scenario, true)],
    };
  } finally {
    remove();
    process.off('exit', remove);
  }
}

function renderSample({ atMs, l0Files, pendingBytes, hot, calm }: KvSample): string {
  const seconds = (atMs / 1000).toFixed(1).padStart(5);
  const pending = (pendingBytes / 1e6).toFixed(1);
  return `${seconds} s  level 0: ${String(l0Files).padStart(2)} files, ${pending} MB pending; acknowledged: ${hot} hot, ${calm} calm`;
}
