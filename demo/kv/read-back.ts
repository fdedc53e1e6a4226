import type { KvScenario } from './kv-scenario.js';
import { KvStub } from './kv-stub.js';
import { isLost, type LedgerPage } from './put-ledger.js';
import { VersionedValues } from './versioned-values.js';

/** Keys of one call: 64 of the long values are a quarter of a megabyte. */
const perCall = 64;

export interface ReadBack {
  /** Keys with an acknowledged put. */
  readonly keys: number;
  /** Of these, keys whose newest acknowledged value, or a newer one that was sent, is not there. */
  readonly lost: number;
}

/** Reads every key that has an acknowledged put. `pages` by thread. */
export async function readBack(
  address: string,
  scenario: KvScenario,
  pages: readonly (readonly LedgerPage[])[],
): Promise<ReadBack> {
  const stub = new KvStub(address);
  try {
    const all = pages.flatMap((ofThread, thread) =>
      ofThread.map((page) => readPage(stub, scenario, thread, page)),
    );
    const results = await Promise.all(all);
    return {
      keys: results.reduce((sum, { keys }) => sum + keys, 0),
      lost: results.reduce((sum, { lost }) => sum + lost, 0),
    };
  } finally {
    stub.close();
  }
}

async function readPage(
  stub: KvStub,
  { seed, table }: KvScenario,
  thread: number,
  { bucket, ids, acknowledged, sent }: LedgerPage,
): Promise<ReadBack> {
  const values = new VersionedValues(seed, thread);
  const wanted = ids.flatMap((id, i) => {
    const least = acknowledged[i] ?? 0;
    return least === 0 ? [] : [{ id, least, most: sent[i] ?? 0 }];
  });
  let lost = 0;
  for (let at = 0; at < wanted.length; at += perCall) {
    const part = wanted.slice(at, at + perCall);
    const request = { table, bucket, keys: part.map(({ id }) => values.key(id)) };
    const response = await stub.getKv(request);
    if (response.errorCode !== 0) throw new Error(`GetKv: ${response.errorMessage}`);
    for (const [i, { id, least, most }] of part.entries()) {
      const value = response.values[i]?.value ?? undefined;
      const found = value === undefined ? undefined : values.versionOf(value, id);
      if (isLost(least, most, found)) lost += 1;
    }
  }
  return { keys: wanted.length, lost };
}
