import { KvRecordError } from '../../../shared/kv-writer-errors.js';
import type { Batch, BucketQueue } from './bucket-queue.js';
import type { PendingRecord } from './pending-record.js';
import type { PutVerdict } from './put-answer.js';
import { notWritten, unknownBucket } from './writer-failures.js';

export interface ComeBackPorts {
  fail(record: PendingRecord, reason: unknown): void;
  /** Nothing of the bucket is sent before a pause that grows with its failures. */
  pause(): void;
  /** How long the bucket is left alone for its pressure, ms. */
  windowMs(): number;
  /** The shortest pause between two attempts, ms. */
  readonly minRetryMs: number;
  /** Asks for metadata; returns the number of the request that will answer. */
  wantMetadata(): number;
}

/**
 * A batch was not taken, as far as is known: it goes back to the head of its bucket, in parts or whole, or its records are
 * given up. Returns whether anything of it is tried again.
 */
export function comeBack(
  queue: BucketQueue,
  batch: Batch,
  verdict: Exclude<PutVerdict, { readonly kind: 'taken' }>,
  ports: ComeBackPorts,
): boolean {
  const open = queue.recall(batch);
  // Also for those that come after records that were all given up meanwhile.
  if (verdict.kind === 'again' && verdict.isAway) ports.wantMetadata();
  if (open.length === 0) return false;
  switch (verdict.kind) {
    case 'pressed':
      queue.parts.unshift(open);
      // Without a window there must still be a pause.
      if (ports.windowMs() < ports.minRetryMs) ports.pause();
      else queue.failures = 0;
      return true;
    case 'again':
      queue.parts.unshift(open);
      if (verdict.maybeTaken) for (const record of open) record.maybeTaken = true;
      ports.pause();
      return true;
    case 'unknown-bucket':
      if (queue.isDoubted) {
        // Metadata may be right by the time of the next batch.
        queue.isDoubted = false;
        for (const record of open) ports.fail(record, unknownBucket(record, verdict.reason));
        return false;
      }
      queue.isDoubted = true;
      queue.parts.unshift(open);
      queue.awaiting = ports.wantMetadata();
      return true;
    case 'unfit': {
      if (open.length > 1) {
        // The neighbours of one bad record are not to suffer: halves, in order.
        const half = open.length >> 1;
        queue.parts.unshift(open.slice(0, half), open.slice(half));
        return true;
      }
      const error = new KvRecordError(verdict.reason, { storageCode: verdict.code });
      for (const record of open) ports.fail(record, error);
      return false;
    }
    case 'failed':
      for (const record of open) {
        if (verdict.maybeTaken) record.maybeTaken = true;
        ports.fail(record, notWritten(record, verdict.code, verdict.reason, queue.lastError));
      }
      return false;
  }
}
