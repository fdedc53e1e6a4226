/**
 * `spillway/kv`: cooperative storage backpressure. The pure pieces, for those who embed them around a store of their own,
 * and the key-value store itself. No peer is loaded before a store is opened.
 */
export type {
  EngineBatch,
  EnginePort,
  EngineSample,
  EngineWriteOutcome,
  KeyRange,
} from '../actors/kv/engine-port.js';
export {
  blockFlush,
  claimFlush,
  closeFlush,
  type FlushParams,
  type FlushPhase,
  type FlushState,
  failFlush,
  finishFlush,
  idleFlush,
  progressFlush,
  requestFlush,
  retryFlush,
} from '../actors/kv/flush-machine.js';
export type { FlushSegment, RowChange, SegmentLimits } from '../actors/kv/flush-segment.js';
export type { KvRecord, KvRow } from '../actors/kv/kv-record.js';
export {
  type BufferedWrite,
  PreWriteBuffer,
  type PreWriteBufferOptions,
  type TruncateReason,
} from '../actors/kv/pre-write-buffer.js';
export type { PutLimits } from '../actors/kv/put-limits.js';
export type { TabletConfig } from '../actors/kv/tablet-config.js';
export type {
  Completion,
  PutReply,
  ScanResult,
  TabletMode,
  TabletStatus,
} from '../actors/kv/tablet-message.js';
export type { HistogramSnapshot } from '../shared/histogram-snapshot.js';
export {
  DirectoryInUseError,
  DirectoryVersionError,
  KV_CODES,
  type KvErrorCode,
  LogCorruptError,
  LogFailedError,
  LogFullError,
  StorageBackpressureError,
} from '../shared/kv-errors.js';
export { type EngineVitals, wouldStall } from '../shared/pressure/engine-stall.js';
export { engineTrigger, wouldExceedFlushBudget } from '../shared/pressure/flush-budget.js';
export type { LevelZeroTriggers } from '../shared/pressure/level-zero-triggers.js';
export {
  gaugePressure,
  hasRamp,
  MAX_PRESSURE,
  type PressureRamp,
  REJECTED_PRESSURE,
} from '../shared/pressure/pressure-gauge.js';
export { ThrottleWindows, throttleWindowMs } from '../shared/pressure/throttle-windows.js';
export type { EngineFactory } from '../workers/kv/engine-messages.js';
export type { KvTables } from '../workers/kv/kv-directory.js';
export { describeKvEvent, type KvEvent } from '../workers/kv/kv-event.js';
export type { KvTableStats } from '../workers/kv/kv-meters.js';
export type { KvRefusal, KvStore, KvStoreStats } from '../workers/kv/kv-store.js';
export type { LogCut } from '../workers/kv/log/log-store.js';
export { type OpenKvStoreOptions, openKvStore } from './kv-open.js';
export { openRocksDbEngine, type RocksDbEngineOptions } from './rocksdb.js';
