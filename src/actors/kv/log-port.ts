import type { KvRecord } from './kv-record.js';

/** Records of one put, numbered from `firstLsn` on. */
export interface LogBatch {
  readonly tablet: string;
  readonly firstLsn: number;
  readonly records: readonly KvRecord[];
}

/** Port: the log that makes a put durable. Shared by all tablets of a process. */
export interface LogPort {
  /**
   * Resolves when the batch survives a loss of power; batches resolve in the order in which they came. Rejects with
   * `LogFullError` (nothing of it is kept, a later one may succeed) or `LogFailedError` (no later one will).
   */
  append(batch: LogBatch): Promise<void>;
  /** Everything of `tablet` below `lsn` is in its store for good: the log may forget it. */
  release(tablet: string, lsn: number): void;
}
