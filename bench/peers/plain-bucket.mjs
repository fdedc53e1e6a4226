/** The usual bucket of one thread: tokens as a float, the monotonic clock read for each decision. */
export class PlainBucket {
  #tokens;
  #last = performance.now();

  /** @param {number} perSecond @param {number} burst */
  constructor(perSecond, burst) {
    this.perMs = perSecond / 1000;
    this.burst = burst;
    this.#tokens = burst;
  }

  tryAcquire() {
    const now = performance.now();
    this.#tokens = Math.min(this.burst, this.#tokens + (now - this.#last) * this.perMs);
    this.#last = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
