import { randomFillSync } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRocksDbEngine } from 'spillway/kv';
import type { KvScenario } from './kv-scenario.js';

/** RocksDB compacts level 0 from this many files on. */
const compactionTrigger = 4;
const recordsPerWrite = 256;
/** Larger than what the server runs with: a store that is only filled need not be pressed. */
const writeBufferBytes = 16 * 1024 * 1024;

/** Fills the stores of the hot buckets, so that every compaction during the load has much to rewrite. */
export async function prefillStore(
  dir: string,
  scenario: KvScenario,
  signal: AbortSignal,
): Promise<void> {
  const hot = Array.from({ length: scenario.hotBuckets }, (_, bucket) => bucket);
  await Promise.all(
    hot.map((bucket) =>
      prefillBucket(join(dir, 'tables', scenario.table, String(bucket)), scenario, signal),
    ),
  );
}

async function prefillBucket(
  dir: string,
  { prefillBytes, hotValueBytes }: KvScenario,
  signal: AbortSignal,
): Promise<void> {
  mkdirSync(dir, { recursive: true });
  const engine = await openRocksDbEngine({
    dir,
    writeBufferSize: writeBufferBytes,
    ignoreStalls: true,
  });
  try {
    let records = 0;
    while (records * hotValueBytes < prefillBytes) {
      signal.throwIfAborted();
      records += recordsPerWrite;
      await engine.write({ records: randomRecords(hotValueBytes), flushedUpTo: records });
    }
    await engine.checkpoint();
    while ((await engine.sample()).l0Files >= compactionTrigger) {
      await sleep(50, undefined, { signal });
    }
  } finally {
    await engine.close();
  }
}

/** Longer keys than those of the load, so that they are none of them. */
function randomRecords(valueBytes: number): { readonly key: Buffer; readonly value: Buffer }[] {
  return Array.from({ length: recordsPerWrite }, () => ({
    key: randomFillSync(Buffer.allocUnsafe(8)),
    value: randomFillSync(Buffer.allocUnsafe(valueBytes)),
  }));
}
