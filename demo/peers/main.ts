// Entry of `npm run demo:peers`. Exit codes: 0 well, 1 something did not add up or failed, 2 bad options, 130 interrupted.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { DemoOptionError } from '../options.js';
import { checkWritable } from '../writable-file.js';
import { type PeerDemoOptions, parsePeerDemoOptions, peerUsage } from './peer-options.js';
import { runPeersDemo } from './run-peers-demo.js';

async function main(options: PeerDemoOptions, signal: AbortSignal): Promise<number> {
  const { jsonFile } = options;
  const file = jsonFile === undefined ? undefined : checkWritable(resolve(jsonFile));
  const { report, table, faults } = await runPeersDemo(options, signal);
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  if (!options.quiet) console.log(`\n${table}`);
  for (const fault of faults) console.error(`fault: ${fault}`);
  return faults.length === 0 ? 0 : 1;
}

async function start(): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = () => {
    // The second time at once; what the first left is ended on exit.
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    const options = parsePeerDemoOptions(process.argv.slice(2));
    if (!options.help) return await main(options, interrupt.signal);
    console.log(peerUsage);
    return 0;
  } catch (error) {
    if (interrupt.signal.aborted) return 130;
    if (error instanceof DemoOptionError) {
      console.error(`${error.message}\n\n${peerUsage}`);
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
