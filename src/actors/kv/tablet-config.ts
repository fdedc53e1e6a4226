/** What a tablet goes by. */
export interface TabletConfig {
  /** Level-0 files from which pressure is reported. */
  readonly l0SlowdownTrigger: number;
  /** The engine is asked for its level-0 files at most this often, ms. */
  readonly sampleIntervalMs: number;
  /** Records of one atomic write of the engine. */
  readonly segmentRecords: number;
  /** Bytes of one atomic write of the engine. */
  readonly segmentBytes: number;
  /** Segments after which a run gives its slot to the next tablet. */
  readonly segmentsPerRun: number;
  /** Bytes that may wait for the store, whatever its level 0 says. */
  readonly maxPendingBytes: number;
  readonly minRetryMs: number;
  readonly maxRetryMs: number;
}

export const DEFAULT_TABLET_CONFIG: TabletConfig = Object.freeze({
  l0SlowdownTrigger: 8,
  sampleIntervalMs: 100,
  // The seed's: a batch of this size holds the engine's write lock for about a millisecond.
  segmentRecords: 500,
  segmentBytes: 1024 * 1024,
  segmentsPerRun: 16,
  maxPendingBytes: 64 * 1024 * 1024,
  minRetryMs: 10,
  maxRetryMs: 1000,
});

const LEAST: Readonly<Record<keyof TabletConfig, number>> = {
  l0SlowdownTrigger: 0,
  sampleIntervalMs: 0,
  segmentRecords: 1,
  segmentBytes: 1,
  segmentsPerRun: 1,
  maxPendingBytes: 1,
  minRetryMs: 1,
  maxRetryMs: 1,
};

/** Frozen, with defaults. `RangeError` with field, rule and what came. */
export function resolveTabletConfig(given: Partial<TabletConfig> = {}): TabletConfig {
  const resolved: Record<keyof TabletConfig, number> = { ...DEFAULT_TABLET_CONFIG };
  for (const [field, value] of Object.entries(given)) {
    if (!(field in LEAST)) throw new TypeError(`${field} is no option of a tablet`);
    const name = field as keyof TabletConfig;
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < LEAST[name]) {
      throw new RangeError(`${name} must be an integer >= ${LEAST[name]}, got ${String(value)}`);
    }
    resolved[name] = value;
  }
  return Object.freeze(resolved);
}
