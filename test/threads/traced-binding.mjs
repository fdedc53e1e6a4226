// Notes every call into RocksDB's native code, by the thread that makes it. Also an engine module: `openTracedEngine`.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';

const require = createRequire(import.meta.url);
// What the package itself loads, once per thread; it exports only its index.
const binding = require(join(dirname(require.resolve('rocksdb-native')), 'binding.js'));

/** @type {string | undefined} */
let traceFile;

/** @param {string} file gets a line `THREAD NAME` for each call that this thread makes from now on */
export function traceBinding(file) {
  const isTraced = traceFile !== undefined;
  traceFile = file;
  if (isTraced) return;
  for (const [name, value] of Object.entries(binding)) {
    if (typeof value !== 'function') continue;
    binding[name] = (/** @type {unknown[]} */ ...args) => {
      appendFileSync(String(traceFile), `${isMainThread ? 'main' : threadId} ${name}\n`);
      return value(...args);
    };
  }
}

/** @param {{ trace: string, dir: string }} options */
export async function openTracedEngine({ trace, ...options }) {
  // The directory's lock is opened without options of the engine.
  if (trace !== undefined) traceBinding(trace);
  const { openRocksDbEngine } = await import(
    new URL('../../dist/adapters/rocksdb.js', import.meta.url).href
  );
  return openRocksDbEngine(options);
}
