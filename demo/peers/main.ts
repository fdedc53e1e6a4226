// Entry of `npm run demo:peers`.
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { runEntry } from '../run-entry.js';
import { checkWritable } from '../writable-file.js';
import { type PeerDemoOptions, parsePeerDemoOptions, peerUsage } from './peer-options.js';
import { runPeersDemo } from './run-peers-demo.js';

/** In less time the probes of the circuits, which wait for the dead peer, are too large a share of the reads. */
const meaningfulSeconds = 20;

async function run(options: PeerDemoOptions, signal: AbortSignal): Promise<readonly string[]> {
  const { jsonFile } = options;
  const file = jsonFile === undefined ? undefined : checkWritable(resolve(jsonFile));
  const { report, table, faults } = await runPeersDemo(options, signal);
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  if (!options.quiet) {
    if (options.seconds < meaningfulSeconds) {
      console.log(`\nBelow ${meaningfulSeconds} s the figures do not say much.`);
    }
    console.log(`\n${table}`);
  }
  return faults;
}

await runEntry({ usage: peerUsage, parse: parsePeerDemoOptions, run });
