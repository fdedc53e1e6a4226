import { SpillwayError } from './errors.js';

/** Why a bucket did not take a batch; the numbers are those of the protocol `spillway.kv.v1`. */
export type KvErrorCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 71;

/** By name. */
export const KV_CODES: {
  readonly NONE: 0;
  readonly UNKNOWN_TABLE: 1;
  readonly UNKNOWN_BUCKET: 2;
  readonly INVALID_RECORD: 3;
  readonly BATCH_TOO_LARGE: 4;
  readonly TABLET_FAILED: 5;
  readonly LOG_FULL: 6;
  readonly CLOSING: 7;
  readonly TIMEOUT: 8;
  readonly SUPERSEDED: 9;
  readonly STORAGE_BACKPRESSURE: 71;
} = Object.freeze({
  NONE: 0,
  UNKNOWN_TABLE: 1,
  UNKNOWN_BUCKET: 2,
  INVALID_RECORD: 3,
  BATCH_TOO_LARGE: 4,
  TABLET_FAILED: 5,
  LOG_FULL: 6,
  CLOSING: 7,
  TIMEOUT: 8,
  SUPERSEDED: 9,
  STORAGE_BACKPRESSURE: 71,
});

/** The store would have been pushed to its limit: nothing was taken. Retriable; `storageCode` is 71 on the wire. */
export class StorageBackpressureError extends SpillwayError {
  readonly storageCode = 71;
  readonly retriable = true;

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_STORAGE_BACKPRESSURE', message, options);
  }
}

/** The disk is full: nothing of the batch was kept. Retriable once there is room. */
export class LogFullError extends SpillwayError {
  readonly retriable = true;

  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_LOG_FULL', message, options);
  }
}

/** The log could not be written or synced, so nothing more can be made durable until it is opened anew. */
export class LogFailedError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_LOG_FAILED', message, options);
  }
}

export interface LogCorruptDetails {
  readonly file: string;
  /** Where the damage begins, bytes. */
  readonly offset: number;
}

/** Something in the log that had been synced is damaged, and more follows it: it is not opened, nothing was changed. */
export class LogCorruptError extends SpillwayError {
  readonly file: string;
  readonly offset: number;

  constructor(message: string, details: LogCorruptDetails, options?: ErrorOptions) {
    super('ERR_SPILLWAY_LOG_CORRUPT', message, options);
    this.file = details.file;
    this.offset = details.offset;
  }
}

/** Another process, or this one already, has the directory open. */
export class DirectoryInUseError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_DIRECTORY_IN_USE', message, options);
  }
}

/** The directory was written by a version that this one does not understand, or is not one of ours. */
export class DirectoryVersionError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_DIRECTORY_VERSION', message, options);
  }
}
