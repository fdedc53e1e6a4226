/** What of an LSM engine's configuration decides when it slows writers down. */
export interface LevelZeroTriggers {
  /** Level-0 files from which the engine delays each write; 0 or less: it never does. */
  readonly l0SlowdownWritesTrigger: number;
  /** Level-0 files from which the engine stops writes. */
  readonly l0StopWritesTrigger: number;
  /** Memtables that the engine keeps, the one being written included. */
  readonly maxWriteBufferNumber: number;
  /** Bytes of a memtable, which becomes one level-0 file; 0 or less: not known. */
  readonly writeBufferSize: number;
}
