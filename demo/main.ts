// Entry of `npm run demo`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DemoOptions, parseDemoOptions, usage } from './options.js';
import { renderReportTable } from './report/report-table.js';
import { startRuntime } from './run/run-with-spillway.js';
import { type DemoParts, runDemo } from './run-demo.js';
import { runEntry } from './run-entry.js';
import { createScenario } from './scenario.js';
import { aborted, serveDashboard } from './serve-dashboard.js';
import { checkWritable } from './writable-file.js';

/** Shorter floods end before the retries have taken the service down. */
const meaningfulSeconds = 20;

const outDir = fileURLToPath(new URL('../out', import.meta.url));

async function run(options: DemoOptions, signal: AbortSignal): Promise<readonly string[]> {
  const scenario = createScenario(options);
  const runtime = await startRuntime(scenario);
  try {
    if (options.servePort !== undefined) await serveDashboard(runtime, options.servePort);
    const faults = await runAndReport(options, { scenario, runtime, quiet: options.quiet, signal });
    if (options.servePort !== undefined && process.stdout.isTTY && faults.length === 0) {
      console.log('\nThe dashboard stays open: Ctrl-C ends it.');
      await aborted(signal);
    }
    return faults;
  } finally {
    await runtime.close();
  }
}

async function runAndReport(options: DemoOptions, parts: DemoParts): Promise<readonly string[]> {
  const jsonFiles = [join(outDir, 'report.json')];
  if (options.jsonFile !== undefined) jsonFiles.push(checkWritable(resolve(options.jsonFile)));
  mkdirSync(outDir, { recursive: true });

  const { report, page, faults } = await runDemo(parts);
  const json = `${JSON.stringify(report, null, 2)}\n`;
  for (const file of jsonFiles) writeFileSync(file, json);
  writeFileSync(join(outDir, 'report.html'), page);
  if (!options.quiet) {
    if (options.seconds < meaningfulSeconds) {
      console.log(
        `\nBelow ${meaningfulSeconds} s the flood is too short for the figures to say much.`,
      );
    }
    const shown = relative(process.cwd(), outDir);
    console.log(`\n${renderReportTable(report)}`);
    console.log(
      `${join(shown, 'report.html')} has the charts, ${join(shown, 'report.json')} the figures.`,
    );
  }
  return faults;
}

await runEntry({ usage, parse: parseDemoOptions, run });
