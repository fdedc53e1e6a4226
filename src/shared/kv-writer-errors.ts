import { SpillwayError } from './errors.js';

/** Whether what was to be written may have been: `unknown` when an attempt was made and its answer never came. */
export type KvOutcome = 'not-taken' | 'unknown';

export interface KvWriteDetails {
  readonly table: string;
  /** undefined: the table was not known, so no bucket could be chosen. */
  readonly bucket: number | undefined;
  readonly outcome: KvOutcome;
  /** What the server answered; undefined: it did not. */
  readonly storageCode?: number | undefined;
}

/** The server refused a record for good, or gave an answer that cannot be understood. */
export class KvWriteError extends SpillwayError {
  readonly table: string;
  readonly bucket: number | undefined;
  readonly outcome: KvOutcome;
  readonly storageCode: number | undefined;

  constructor(message: string, details: KvWriteDetails, options?: ErrorOptions) {
    super('ERR_SPILLWAY_KV_WRITE', message, options);
    this.table = details.table;
    this.bucket = details.bucket;
    this.outcome = details.outcome;
    this.storageCode = details.storageCode;
  }
}

/** There is no such table or bucket, also by metadata that was asked for after the record had been given. */
export class KvUnknownBucketError extends SpillwayError {
  readonly table: string;
  readonly bucket: number | undefined;
  readonly outcome: KvOutcome;

  constructor(message: string, details: KvWriteDetails, options?: ErrorOptions) {
    super('ERR_SPILLWAY_KV_UNKNOWN_BUCKET', message, options);
    this.table = details.table;
    this.bucket = details.bucket;
    this.outcome = details.outcome;
  }
}

/** A record that no server takes: an empty key, or something over a limit, here or at the server. Nothing of it was taken. */
export class KvRecordError extends SpillwayError {
  /** As the server numbers it. */
  readonly storageCode: 3 | 4;

  constructor(message: string, details: { readonly storageCode: 3 | 4 }, options?: ErrorOptions) {
    super('ERR_SPILLWAY_KV_RECORD', message, options);
    this.storageCode = details.storageCode;
  }
}

/** The buffer, or the bucket's share of it, has no room, and the writer is told to fail then. Retriable. */
export class KvBufferFullError extends SpillwayError {
  readonly bufferedBytes: number;
  readonly bufferBytes: number;
  readonly retriable = true;

  constructor(
    message: string,
    details: { readonly bufferedBytes: number; readonly bufferBytes: number },
    options?: ErrorOptions,
  ) {
    super('ERR_SPILLWAY_KV_BUFFER_FULL', message, options);
    this.bufferedBytes = details.bufferedBytes;
    this.bufferBytes = details.bufferBytes;
  }
}

/** A record was not acknowledged within `deliveryTimeoutMs`. Its `cause`, if any, is what went wrong last. */
export class KvDeliveryTimeoutError extends SpillwayError {
  readonly table: string;
  readonly bucket: number | undefined;
  /** `unknown`: it was sent and may have been taken. */
  readonly outcome: KvOutcome;
  readonly timeoutMs: number;

  constructor(
    message: string,
    details: KvWriteDetails & { readonly timeoutMs: number },
    options?: ErrorOptions,
  ) {
    super('ERR_SPILLWAY_KV_DELIVERY_TIMEOUT', message, options);
    this.table = details.table;
    this.bucket = details.bucket;
    this.outcome = details.outcome;
    this.timeoutMs = details.timeoutMs;
  }
}

/** The writer is closing or closed: a record that came too late, or one that was left at the deadline of the close. */
export class KvWriterClosedError extends SpillwayError {
  /** `unknown`: it was sent and may have been taken. */
  readonly outcome: KvOutcome;

  constructor(message: string, details: { readonly outcome: KvOutcome }, options?: ErrorOptions) {
    super('ERR_SPILLWAY_KV_WRITER_CLOSED', message, options);
    this.outcome = details.outcome;
  }
}
