import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KvStub } from '../kv/kv-stub.js';
import { type RunningKvServer, startKvServer } from '../kv/start-kv-server.js';
import { VersionedValues } from '../kv/versioned-values.js';
import { bucketCount, rowsTable } from './chaos-load.js';

export interface ReplayedLog {
  readonly logBytes: number;
  readonly records: number;
  /** Until every bucket answered, ms: after kill -9, and with all stores gone, so that the whole log is replayed. */
  readonly killedMs: number;
  readonly emptyMs: number;
  /** Records that were not there afterwards, both times. */
  readonly lost: number;
}

const valueBytes = 1000;
const recordsPerBatch = 200;
/** Keys of one look: a read of a thousand of them is a megabyte. */
const readStep = 1000;

/** Writes a log that is never trimmed, kills the server, and measures how soon the next one serves. */
export async function replayLog(
  logMb: number,
  seed: number,
  signal: AbortSignal,
): Promise<ReplayedLog> {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-chaos-log-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  process.once('exit', remove);
  const args = [
    ...['--tables', `${rowsTable}:${bucketCount}`],
    ...['--log-checkpoint-bytes', String(10 * logMb * 1_000_000)],
  ];
  const values = new VersionedValues(seed, 0);
  let server: RunningKvServer | undefined;
  const restart = async (): Promise<number> => {
    const fromMs = performance.now();
    server = await startKvServer({ dir, args });
    await answersOfAll(server.address, values);
    return performance.now() - fromMs;
  };
  try {
    server = await startKvServer({ dir, args });
    const records = await Promise.race([
      writeLog(server, logMb * 1_000_000, values, signal),
      server.lost,
    ]);
    const logBytes = await logBytesOf(server);
    await server.kill();
    const killedMs = await restart();
    let lost = await countMissing(server.address, values, records);
    await server.kill();
    rmSync(join(dir, 'tables'), { recursive: true });
    const emptyMs = await restart();
    lost += await countMissing(server.address, values, records);
    await server.stop();
    return { logBytes, records: records * bucketCount, killedMs, emptyMs, lost };
  } finally {
    await server?.kill();
    remove();
    process.off('exit', remove);
  }
}

/** Records of each bucket. */
async function writeLog(
  server: RunningKvServer,
  bytes: number,
  values: VersionedValues,
  signal: AbortSignal,
): Promise<number> {
  const stub = new KvStub(server.address);
  try {
    let records = 0;
    while ((await logBytesOf(server)) < bytes) {
      signal.throwIfAborted();
      const batch = Array.from({ length: recordsPerBatch }, (_, i) => ({
        key: values.key(records + i),
        value: values.value(records + i, 1, valueBytes),
      }));
      const buckets = Array.from({ length: bucketCount }, (_, bucket) => ({
        bucket,
        records: batch,
      }));
      const response = await stub.putKv({
        table: rowsTable,
        completion: 'COMPLETION_LOG',
        buckets,
      });
      const refused = response.buckets.find(({ errorCode }) => errorCode !== 0);
      if (refused !== undefined) throw new Error(`PutKv: ${refused.errorMessage}`);
      records += recordsPerBatch;
    }
    return records;
  } finally {
    stub.close();
  }
}

async function logBytesOf({ httpUrl }: RunningKvServer): Promise<number> {
  const state = (await (await fetch(new URL('state', httpUrl))).json()) as {
    readonly stores: readonly { readonly logBytes: number }[];
  };
  return state.stores[0]?.logBytes ?? 0;
}

async function answersOfAll(address: string, values: VersionedValues): Promise<void> {
  const stub = new KvStub(address);
  try {
    const all = Array.from({ length: bucketCount }, (_, bucket) =>
      stub.getKv({ table: rowsTable, bucket, keys: [values.key(0)] }),
    );
    for (const { errorCode, errorMessage } of await Promise.all(all)) {
      if (errorCode !== 0) throw new Error(`GetKv: ${errorMessage}`);
    }
  } finally {
    stub.close();
  }
}

async function countMissing(
  address: string,
  values: VersionedValues,
  records: number,
): Promise<number> {
  const stub = new KvStub(address);
  let missing = 0;
  try {
    for (let bucket = 0; bucket < bucketCount; bucket += 1) {
      for (let from = 0; from < records; from += readStep) {
        const ids = Array.from({ length: Math.min(readStep, records - from) }, (_, i) => from + i);
        const keys = ids.map((id) => values.key(id));
        const response = await stub.getKv({ table: rowsTable, bucket, keys });
        for (const [i, id] of ids.entries()) {
          const value = response.values[i]?.value ?? undefined;
          if (value === undefined || values.versionOf(value, id) !== 1) missing += 1;
        }
      }
    }
  } finally {
    stub.close();
  }
  return missing;
}
