import {
  KvBufferFullError,
  KvDeliveryTimeoutError,
  type KvOutcome,
  KvUnknownBucketError,
  type KvWriteDetails,
  KvWriteError,
  KvWriterClosedError,
} from '../../../shared/kv-writer-errors.js';
import { type PendingRecord, UNPLACED } from './pending-record.js';

/** What a record's promise is rejected with, and what is known of the record. */
export function timedOut(
  record: PendingRecord,
  timeoutMs: number,
  cause: Error | undefined,
): Error {
  const message = `not acknowledged by ${record.home.name} within ${timeoutMs} ms; ${whether(record)}`;
  const details = { ...detailsOf(record), timeoutMs };
  return new KvDeliveryTimeoutError(message, details, cause === undefined ? undefined : { cause });
}

export function unknownBucket(record: PendingRecord, reason: string): Error {
  return new KvUnknownBucketError(reason, detailsOf(record));
}

export function notWritten(
  record: PendingRecord,
  storageCode: number | undefined,
  reason: string,
  cause: Error | undefined,
): Error {
  const message = `${record.home.name} did not take it: ${reason}`;
  const details = { ...detailsOf(record), storageCode };
  return new KvWriteError(message, details, cause === undefined ? undefined : { cause });
}

export function leftAtClose(record: PendingRecord): Error {
  const message = `the writer was closed before ${record.home.name} acknowledged; ${whether(record)}`;
  return new KvWriterClosedError(message, { outcome: outcomeOf(record) });
}

export function bufferFull(name: string, held: number, used: number, capacity: number): Error {
  const message = `no room for ${name}: ${used} of ${capacity} bytes are taken, ${held} by it`;
  return new KvBufferFullError(message, { bufferedBytes: used, bufferBytes: capacity });
}

function outcomeOf({ maybeTaken, place }: PendingRecord): KvOutcome {
  return maybeTaken || place === 'flying' ? 'unknown' : 'not-taken';
}

function whether(record: PendingRecord): string {
  return outcomeOf(record) === 'unknown' ? 'it may have been taken' : 'it was not taken';
}

function detailsOf(record: PendingRecord): KvWriteDetails {
  const { table, bucket } = record.home;
  const isPlaced = bucket !== UNPLACED;
  return { table, bucket: isPlaced ? bucket : undefined, outcome: outcomeOf(record) };
}
