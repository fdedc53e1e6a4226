import { KvStub } from '../kv/kv-stub.js';
import { batchKeys, type GroupFinding } from './batch-groups.js';
import { batchesTable, type ChaosLoad, rowsTable } from './chaos-load.js';
import { addFindings, type Finding, nothingWrong } from './finding.js';

export interface CheckResult extends Finding {
  readonly torn: number;
  /** Records that were looked at. */
  readonly records: number;
}

/** Compares what a server has, which nobody writes to meanwhile, with what was sent and acknowledged. */
export async function checkServer(address: string, load: ChaosLoad): Promise<CheckResult> {
  const stub = new KvStub(address);
  try {
    const rows = await Promise.all(
      load.rows.map(async (sequence, bucket) => {
        const found = await numbersOf(stub, load, rowsTable, bucket, sequence.keys);
        return sequence.check(found);
      }),
    );
    const groups = await Promise.all(
      load.batches.map(async (batches, bucket) => {
        const keys = batches.groups * batchKeys;
        const found = await numbersOf(stub, load, batchesTable, bucket, keys);
        const each = Array.from({ length: batches.groups }, (_, group) =>
          found.slice(group * batchKeys, (group + 1) * batchKeys),
        );
        return batches.check(each);
      }),
    );
    return summarise(rows, groups, load);
  } finally {
    stub.close();
  }
}

/** Number of the put that each key holds; 0: none, infinite: a value that nobody sent. */
async function numbersOf(
  stub: KvStub,
  load: ChaosLoad,
  table: string,
  bucket: number,
  count: number,
): Promise<number[]> {
  const keys = Array.from({ length: count }, (_, key) => key);
  const request = { table, bucket, keys: keys.map((key) => load.key(key)) };
  const response = await stub.getKv(request);
  if (response.errorCode !== 0) throw new Error(`GetKv: ${response.errorMessage}`);
  return keys.map((key) => {
    const value = response.values[key]?.value ?? undefined;
    if (value === undefined) return 0;
    const number = load.numberOf(value, key);
    return number < 1 ? Number.POSITIVE_INFINITY : number;
  });
}

function summarise(
  rows: readonly Finding[],
  groups: readonly GroupFinding[],
  load: ChaosLoad,
): CheckResult {
  const all = [...rows, ...groups.map((one) => ({ ...one, reordered: 0 }))];
  const records =
    load.rows.reduce((sum, { keys, sent }) => sum + Math.min(keys, sent), 0) +
    load.batches.reduce((sum, one) => sum + Math.min(one.groups, one.sent) * batchKeys, 0);
  return {
    ...all.reduce(addFindings, nothingWrong),
    torn: groups.reduce((sum, { torn }) => sum + torn, 0),
    records,
  };
}
