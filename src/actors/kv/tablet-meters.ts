/** Port: what a tablet counts. None of it may throw. */
export interface TabletMeters {
  /** A batch was taken. */
  accepted(records: number, bytes: number): void;
  /** A batch was refused with code 71. */
  rejected(): void;
  /** A segment went into the store. */
  flushed(records: number, tookMs: number): void;
  /** The engine refused a segment, which is tried again later. */
  retried(): void;
  /** How the tablet stands. */
  state(state: {
    readonly pressure: number;
    readonly pendingBytes: number;
    readonly entries: number;
    readonly l0Files: number;
  }): void;
}
