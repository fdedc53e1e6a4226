// Entry of `npm run demo`. Exit codes: 0 well, 1 something did not add up or failed, 2 bad options,
// 130 interrupted.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DemoOptionError, type DemoOptions, parseDemoOptions, usage } from './options.js';
import { renderReportTable } from './report/report-table.js';
import { runDemo } from './run-demo.js';
import { checkWritable } from './writable-file.js';

/** Shorter floods end before the retries have taken the service down. */
const meaningfulSeconds = 20;

const outDir = fileURLToPath(new URL('../out', import.meta.url));

async function main(options: DemoOptions, signal: AbortSignal): Promise<number> {
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
  for (const fault of faults) console.error(`fault: ${fault}`);
  return faults.length === 0 ? 0 : 1;
}

async function start(): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = () => {
    // The second time at once; what the first left is removed on exit.
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    const options = parseDemoOptions(process.argv.slice(2));
    if (!options.help) return await main(options, interrupt.signal);
    console.log(usage);
    return 0;
  } catch (error) {
    if (interrupt.signal.aborted) return 130;
    if (error instanceof DemoOptionError) {
      console.error(`${error.message}\n\n${usage}`);
      return 2;
    }
    console.error(error);
    return 1;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

process.exitCode = await start();
