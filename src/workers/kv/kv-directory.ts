import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../shared/errors.js';
import { DirectoryVersionError } from '../../shared/kv-errors.js';

/** Tables by name, with their number of buckets. */
export type KvTables = Readonly<Record<string, number>>;

/** What is in a directory of ours: this file, `lock/`, `log/` and a store per bucket in `tables/`. */
const MARKER = 'spillway-kv.json';
const FORMAT = 1;
/** Names become names of directories. */
const TABLE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
const MAX_BUCKETS = 4096;

export function tabletName(table: string, bucket: number): string {
  return `${table}/${bucket}`;
}

export function tabletDir(dir: string, table: string, bucket: number): string {
  return join(dir, 'tables', table, String(bucket));
}

export const lockDir = (dir: string): string => join(dir, 'lock');

export const logDir = (dir: string): string => join(dir, 'log');

/** `ConfigError` for a name or a number that cannot be. */
export function checkTables(tables: KvTables): void {
  for (const [table, buckets] of Object.entries(tables)) {
    if (!TABLE_NAME.test(table)) {
      refuse('tables', 'names of 1 to 64 letters, digits, _ and -, not beginning with -', table);
    }
    if (!Number.isInteger(buckets) || buckets < 1 || buckets > MAX_BUCKETS) {
      refuse(`tables.${table}`, `an integer from 1 to ${MAX_BUCKETS}`, buckets);
    }
  }
}

/**
 * The tables of a directory and those that are asked for. `DirectoryVersionError` when it is of another version or not
 * ours, `ConfigError` when a table has another number of buckets. Changes nothing.
 */
export function mergedTables(dir: string, wanted: KvTables): KvTables {
  checkTables(wanted);
  const known = readMarker(dir);
  for (const [table, buckets] of Object.entries(wanted)) {
    const before = known[table];
    if (before !== undefined && before !== buckets) {
      refuse(`tables.${table}`, `${before}, as it was made with`, buckets);
    }
  }
  const merged = { ...known, ...wanted };
  if (Object.keys(merged).length === 0) refuse('tables', 'at least one table', '{}');
  return merged;
}

/** Once the directory is locked. */
export function writeMarker(dir: string, tables: KvTables): void {
  const path = join(dir, MARKER);
  const text = `${JSON.stringify({ format: FORMAT, tables }, null, 2)}\n`;
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  // By renaming: whoever dies here leaves the old one or the new one.
  writeFileSync(`${path}.new`, text, { flush: true });
  renameSync(`${path}.new`, path);
}

function readMarker(dir: string): KvTables {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, MARKER);
  if (!existsSync(path)) {
    if (!existsSync(logDir(dir))) return {};
    throw new DirectoryVersionError(`${dir} has a log, but no ${MARKER}: it is not touched`);
  }
  let marker: { readonly format?: unknown; readonly tables?: KvTables };
  try {
    marker = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new DirectoryVersionError(`${path} cannot be read`, { cause: error });
  }
  if (marker.format !== FORMAT) {
    throw new DirectoryVersionError(
      `${dir} is of version ${String(marker.format)}, this is version ${FORMAT}`,
    );
  }
  return marker.tables ?? {};
}

function refuse(field: string, rule: string, value: unknown): never {
  throw new ConfigError(`${field} must be ${rule}, got ${String(value)}`, { field, rule, value });
}
