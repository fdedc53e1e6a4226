// Entry of `npm run demo:kv`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runEntry } from '../run-entry.js';
import { checkWritable } from '../writable-file.js';
import { type KvDemoOptions, kvUsage, parseKvDemoOptions } from './kv-options.js';
import { runKvDemo } from './run-kv-demo.js';

/** In less time no store falls far behind. */
const meaningfulSeconds = 20;

const outDir = fileURLToPath(new URL('../../out', import.meta.url));

async function run(options: KvDemoOptions, signal: AbortSignal): Promise<readonly string[]> {
  const { jsonFile, quiet, seconds } = options;
  const file = jsonFile === undefined ? undefined : checkWritable(resolve(jsonFile));
  mkdirSync(outDir, { recursive: true });
  const { report, table, page, faults } = await runKvDemo(options, signal);
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  const pageFile = join(outDir, 'kv.html');
  writeFileSync(pageFile, page);
  if (!quiet) {
    if (seconds < meaningfulSeconds) {
      console.log(
        `\nBelow ${meaningfulSeconds} s the flood is too short for the figures to say much.`,
      );
    }
    console.log(`\n${table}\n${relative(process.cwd(), pageFile)} has the charts.`);
  }
  return faults;
}

await runEntry({ usage: kvUsage, parse: parseKvDemoOptions, run });
