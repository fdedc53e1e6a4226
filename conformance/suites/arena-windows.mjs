const MS = 1e6;
const EPOCH = 0;
const BASE = 64;
const BUCKETS = 1024;

/** The throttle of one client on pressure windows in shared memory: what all threads of a process see. */
export class ArenaWindows {
  #parts;
  #maxThrottleMs;
  #directory;
  #windows;
  #keeper;
  /** @type {Map<string, import('../../src/shared/pressure/pressure-windows.js').BucketPlace>} */
  #places = new Map();
  #nowMs = 0;

  /**
   * @param {import('../load-built.mjs').WindowParts} parts
   * @param {number} maxThrottleMs
   */
  constructor(parts, maxThrottleMs) {
    const buffer = new SharedArrayBuffer(BASE + parts.keyDirectoryBytes(BUCKETS));
    const quiescence = { request: () => 0, passed: () => true };
    this.#parts = parts;
    this.#maxThrottleMs = maxThrottleMs;
    this.#directory = new parts.KeyDirectory(buffer, BASE, BUCKETS);
    this.#windows = new parts.PressureWindows({ buffer, directory: this.#directory, epoch: EPOCH });
    this.#keeper = new parts.WindowKeeper({
      buffer,
      directory: this.#directory,
      keeper: new parts.DirectoryKeeper(buffer, BASE, BUCKETS, quiescence),
    });
  }

  /** @param {string} bucket @param {number} pressure @param {number} nowMs */
  signal(bucket, pressure, nowMs) {
    this.#nowMs = nowMs;
    if (Number.isNaN(pressure)) return;
    const windowMs = this.#parts.throttleWindowMs(pressure, this.#maxThrottleMs);
    this.#windows.signal(this.#place(bucket), pressure, windowMs, nowMs * MS);
  }

  /** @param {string} bucket @param {number} nowMs */
  remainingMs(bucket, nowMs) {
    this.#nowMs = nowMs;
    const window = this.#windows.window(this.#place(bucket), nowMs * MS);
    return window === undefined ? 0 : window.endNs / MS - nowMs;
  }

  /** @param {Iterable<string>} buckets */
  keepOnly(buckets) {
    const alive = new Set(buckets);
    for (const [bucket, place] of this.#places)
      if (!alive.has(bucket)) this.#windows.signal(place, 0, 0, this.#nowMs * MS);
  }

  get tracked() {
    this.#keeper.sweep(this.#nowMs * MS);
    let count = 0;
    this.#directory.visit(() => {
      count += 1;
    });
    return count;
  }

  /** @param {string} bucket */
  #place(bucket) {
    const place = this.#places.get(bucket) ?? new this.#parts.BucketPlace(bucket);
    this.#places.set(bucket, place);
    return place;
  }
}
