/** Leaders of buckets by table. */
export type KvMetadata = ReadonlyMap<string, ReadonlyMap<number, string>>;

/** Reads an answer of `Describe`. Throws a TypeError when it is none: nothing may be dropped for a bad answer. */
export function readMetadata(response: unknown): KvMetadata {
  const tables = fieldOf(response, 'tables');
  if (!Array.isArray(tables)) throw new TypeError('metadata without tables');
  const found = new Map<string, ReadonlyMap<number, string>>();
  for (const table of tables as readonly unknown[]) {
    const name = fieldOf(table, 'name');
    const buckets = fieldOf(table, 'buckets');
    if (typeof name !== 'string' || !Array.isArray(buckets)) {
      throw new TypeError('metadata of a table without a name or buckets');
    }
    const leaders = new Map<number, string>();
    for (const one of buckets as readonly unknown[]) {
      const bucket = fieldOf(one, 'bucket');
      const leader = fieldOf(one, 'leader');
      if (!Number.isInteger(bucket) || typeof leader !== 'string') {
        throw new TypeError(`metadata of table ${name} with a bucket without number or leader`);
      }
      leaders.set(bucket as number, leader);
    }
    found.set(name, leaders);
  }
  return found;
}

/** As windows are named by. */
export function bucketName(table: string, bucket: number): string {
  return `${table}/${bucket}`;
}

export function bucketNames(metadata: KvMetadata): string[] {
  return [...metadata].flatMap(([table, leaders]) =>
    [...leaders.keys()].map((bucket) => bucketName(table, bucket)),
  );
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
