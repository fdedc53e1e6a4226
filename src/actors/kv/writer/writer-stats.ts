/** Pressure that a bucket's server reported, while its window is open. */
export interface BucketPressure {
  readonly table: string;
  readonly bucket: number;
  readonly pressure: number;
  readonly remainingMs: number;
}

export interface KvWriterStats {
  /** Records whose promise is open: those in the buffer and those that wait for room. */
  readonly records: number;
  /** Bytes in the buffer, those of requests under way included. */
  readonly bufferedBytes: number;
  /** Puts that wait for room. */
  readonly waiting: number;
  /** Requests under way. */
  readonly inFlight: number;
  /** Throttle windows that are kept. */
  readonly windows: number;
  /** Puts and deletes that were given, those refused at once apart. */
  readonly given: number;
  readonly acknowledged: number;
  /** Given, and rejected since for whatever reason. */
  readonly failed: number;
  /** Attempts: requests that were sent. */
  readonly attempts: number;
  /** Attempts that came to nothing and were made again. */
  readonly retries: number;
  /** Answers with code 71. */
  readonly refusals: number;
  /** How long batches that were ready have been held up by windows, all buckets together. */
  readonly throttledMs: number;
  /** Why something cannot be sent now: the metadata cannot be had, or else a bucket backs off. undefined: nothing is wrong. */
  readonly trouble: string | undefined;
  /** Windows that are open now, at most 1000. */
  readonly pressure: readonly BucketPressure[];
}
