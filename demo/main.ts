// Entry of `npm run demo`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DemoOptions, parseDemoOptions, usage } from './options.js';
import { renderReportTable } from './report/report-table.js';
import { runDemo } from './run-demo.js';
import { runEntry } from './run-entry.js';
import { checkWritable } from './writable-file.js';

/** Shorter floods end before the retries have taken the service down. */
const meaningfulSeconds = 20;

const outDir = fileURLToPath(new URL('../out', import.meta.url));

async function run(options: DemoOptions, signal: AbortSignal): Promise<readonly string[]> {
  const jsonFiles = [join(outDir, 'report.json')];
  if (options.jsonFile !== undefined) jsonFiles.push(checkWritable(resolve(options.jsonFile)));
  mkdirSync(outDir, { recursive: true });

  const { report, page, faults } = await runDemo(options, signal);
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
