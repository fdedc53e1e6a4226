/**
 * `spillway/kv/client`: a writer for servers of `spillway.kv.v1` that obeys their pressure. Its peers, `@grpc/grpc-js` and
 * `@grpc/proto-loader`, are loaded when a writer is made.
 */
export { bucketOfKey } from '../actors/kv/writer/bucket-of-key.js';
export type { PutOptions as KvWritePutOptions } from '../actors/kv/writer/kv-writer-core.js';
export type { PutResult as KvWriteResult } from '../actors/kv/writer/pending-record.js';
export type { BucketPressure, KvWriterStats } from '../actors/kv/writer/writer-stats.js';
export {
  KvBufferFullError,
  KvDeliveryTimeoutError,
  type KvOutcome,
  KvRecordError,
  KvUnknownBucketError,
  KvWriteError,
  KvWriterClosedError,
} from '../shared/kv-writer-errors.js';
export {
  createKvWriter,
  type KvBytes,
  type KvWriter,
  type KvWriterOptions,
} from './kv-writer.js';
