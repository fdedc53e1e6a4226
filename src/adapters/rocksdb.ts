import type {
  EngineBatch,
  EnginePort,
  EngineSample,
  EngineWriteOutcome,
  KeyRange,
} from '../actors/kv/engine-port.js';
import type { KvRow } from '../actors/kv/kv-record.js';
import { ConfigError } from '../shared/errors.js';
import { DirectoryInUseError } from '../shared/kv-errors.js';
import {
  type EngineVitals,
  LEAST_WRITE_BUFFERS,
  wouldStall,
} from '../shared/pressure/engine-stall.js';
import { engineTrigger } from '../shared/pressure/flush-budget.js';
import type { LevelZeroTriggers } from '../shared/pressure/level-zero-triggers.js';
import { loadRocksDb, type RocksDb } from './rocksdb-binding.js';

export interface RocksDbEngineOptions {
  readonly dir: string;
  /** Bytes of a memtable, an integer >= 65,536. Default 64 MiB. */
  readonly writeBufferSize?: number;
  /** Memtables, an integer >= 4: with fewer no write could be told to be safe. Default 8. */
  readonly maxWriteBufferNumber?: number;
  /** Flushes and compactions at a time, shared by all stores of the process. Default 4. */
  readonly maxBackgroundJobs?: number;
  /** Writes wait in the engine and nothing is ever refused: only to see what the refusals are good for. Default false. */
  readonly ignoreStalls?: boolean;
}

/** RocksDB's own, which the binding cannot change. */
const L0_SLOWDOWN_TRIGGER = 20;
const L0_STOP_TRIGGER = 36;

/** Rows that one call into the native iterator fetches at most. */
const ITERATOR_CAPACITY = 1024;

/** Users' keys begin with 1, so that nothing of theirs is ours. */
const USER = 1;
const FLUSHED_KEY = Uint8Array.of(0);

/**
 * A RocksDB store as the engine of one tablet. Its properties, and so `sample` and each `write`, are read on the calling
 * thread (a few microseconds, now and then milliseconds): let it live on a worker thread. `ConfigError` for bad options,
 * `DirectoryInUseError` when another engine has the directory.
 */
export async function openRocksDbEngine(options: RocksDbEngineOptions): Promise<EnginePort> {
  const {
    dir,
    writeBufferSize = 64 * 1024 * 1024,
    maxWriteBufferNumber = 8,
    maxBackgroundJobs = 4,
    ignoreStalls = false,
  } = options;
  atLeast('writeBufferSize', writeBufferSize, 65_536);
  atLeast('maxWriteBufferNumber', maxWriteBufferNumber, LEAST_WRITE_BUFFERS);
  atLeast('maxBackgroundJobs', maxBackgroundJobs, 1);
  const RocksDB = await loadRocksDb();
  const db = new RocksDB(dir, { writeBufferSize, maxWriteBufferNumber, maxBackgroundJobs });
  try {
    await db.ready();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!/\block\b/i.test(message)) throw error;
    throw new DirectoryInUseError(`${dir} is in use: ${message}`, { cause: error });
  }
  const stored = await db.get(FLUSHED_KEY);
  return new RocksDbEngine(db, stored === null ? 0 : decodeOffset(stored), {
    // Without triggers there is neither ramp nor budget.
    l0SlowdownWritesTrigger: ignoreStalls ? 0 : L0_SLOWDOWN_TRIGGER,
    l0StopWritesTrigger: ignoreStalls ? 0 : L0_STOP_TRIGGER,
    maxWriteBufferNumber,
    writeBufferSize,
  });
}

class RocksDbEngine implements EnginePort {
  readonly triggers: LevelZeroTriggers;
  readonly flushedUpTo: number;
  readonly #db: RocksDb;

  constructor(db: RocksDb, flushedUpTo: number, triggers: LevelZeroTriggers) {
    this.#db = db;
    this.flushedUpTo = flushedUpTo;
    this.triggers = triggers;
  }

  async sample(): Promise<EngineSample> {
    const vitals = await this.#vitals();
    const isHeeded = engineTrigger(this.triggers) !== undefined;
    return { l0Files: vitals.l0Files, stalled: isHeeded && wouldStall(this.triggers, vitals) };
  }

  async stalledMs(): Promise<number> {
    return parseStall((await this.#db.getProperty('rocksdb.stats')) ?? '');
  }

  async write({ records, flushedUpTo }: EngineBatch): Promise<EngineWriteOutcome> {
    const before = await this.sample();
    if (before.stalled) return { kind: 'refused', sample: before };
    const batch = this.#db.write({ capacity: records.length + 1, autoDestroy: true });
    for (const { key, value } of records) {
      if (value === null) batch.tryDelete(userKey(key));
      else batch.tryPut(userKey(key), value);
    }
    batch.tryPut(FLUSHED_KEY, encodeOffset(flushedUpTo));
    await batch.flush();
    return { kind: 'written', sample: await this.sample() };
  }

  async get(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | null)[]> {
    if (keys.length === 0) return [];
    const batch = this.#db.read({ capacity: keys.length, autoDestroy: true });
    const values = keys.map((key) => batch.get(userKey(key)));
    batch.tryFlush();
    return Promise.all(values);
  }

  async iterate({ start, end, limit }: KeyRange): Promise<readonly KvRow[]> {
    const rows: KvRow[] = [];
    const range = {
      gte: userKey(start),
      lt: end === undefined ? Uint8Array.of(USER + 1) : userKey(end),
    };
    const capacity = Math.min(limit, ITERATOR_CAPACITY);
    for await (const { key, value } of this.#db.iterator(range, { limit, capacity })) {
      rows.push({ key: key.subarray(1), value });
    }
    return rows;
  }

  checkpoint(): Promise<void> {
    return this.#db.flush();
  }

  close(): Promise<void> {
    return this.#db.close();
  }

  async #vitals(): Promise<EngineVitals> {
    const [l0Files, immutableMemtables, delayedWriteRate, stopped] = await Promise.all([
      this.#number('rocksdb.num-files-at-level0'),
      this.#number('rocksdb.num-immutable-mem-table'),
      this.#number('rocksdb.actual-delayed-write-rate'),
      this.#number('rocksdb.is-write-stopped'),
    ]);
    return { l0Files, immutableMemtables, delayedWriteRate, isWriteStopped: stopped > 0 };
  }

  async #number(name: string): Promise<number> {
    const value = Number(await this.#db.getProperty(name));
    if (!Number.isFinite(value)) throw new Error(`RocksDB has no property ${name}`);
    return value;
  }
}

/** RocksDB tells it in its report alone: `Cumulative stall: 00:00:1.426 H:M:S, 47.4 percent`. */
export function parseStall(report: string): number {
  const match = /Cumulative stall: (\d+):(\d+):(\d+(?:\.\d+)?) H:M:S/.exec(report);
  if (match === null) return 0;
  const [, hours, minutes, seconds] = match;
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000);
}

function userKey(key: Uint8Array): Uint8Array {
  const prefixed = new Uint8Array(key.length + 1);
  prefixed[0] = USER;
  prefixed.set(key, 1);
  return prefixed;
}

function encodeOffset(offset: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(offset));
  return bytes;
}

function decodeOffset(bytes: Uint8Array): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0));
}

function atLeast(field: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  const rule = `an integer >= ${least}`;
  throw new ConfigError(`${field} must be ${rule}, got ${String(value)}`, { field, rule, value });
}
