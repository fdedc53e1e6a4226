// Entry of `npm run demo`. Exit codes: 0 well, 1 something did not add up or failed, 2 bad options,
// 130 interrupted.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DemoOptionError, type DemoOptions, parseDemoOptions, usage } from './options.js';
import { renderReportTable } from './report/report-table.js';
import { runDemo } from './run-demo.js';

const outDir = fileURLToPath(new URL('../out', import.meta.url));

async function main(options: DemoOptions, signal: AbortSignal): Promise<number> {
  const jsonFiles = [join(outDir, 'report.json')];
  if (options.jsonFile !== undefined) jsonFiles.push(resolve(options.jsonFile));
  // Before the load: nobody should wait for a report that cannot be written.
  for (const file of jsonFiles) mkdirSync(dirname(file), { recursive: true });

  const { report, page, faults } = await runDemo(options, signal);
  const json = `${JSON.stringify(report, null, 2)}\n`;
  for (const file of jsonFiles) writeFileSync(file, json);
  writeFileSync(join(outDir, 'report.html'), page);
  if (!options.quiet) {
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
  let options: DemoOptions;
  try {
    options = parseDemoOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof DemoOptionError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const interrupt = new AbortController();
  const onSignal = () => {
    // The second time at once; what the first left is removed on exit.
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return await main(options, interrupt.signal);
  } catch (error) {
    if (interrupt.signal.aborted) return 130;
    console.error(error);
    return 1;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

process.exitCode = await start();
