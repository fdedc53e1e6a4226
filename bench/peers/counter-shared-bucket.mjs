// The fastest bucket for several threads that plain JavaScript can make: one fetch-and-subtract on an Int32 per decision. No
// clock is read, because another thread adds what has come each millisecond. It has no config epochs, no weights and no
// statistics; burst and rate must fit 2^31, and refusals cost double. Permits taken in advance per thread would be faster
// still, but are then missing for the others.

export const BYTES = 64;

export class CounterSharedBucket {
  #tokens;

  /** @param {SharedArrayBuffer} buffer of `BYTES` */
  constructor(buffer) {
    this.#tokens = new Int32Array(buffer);
  }

  tryAcquire() {
    if (Atomics.sub(this.#tokens, 0, 1) > 0) return true;
    Atomics.add(this.#tokens, 0, 1);
    return false;
  }
}

/** Adds what has come since the last time. One thread only.
 * @param {SharedArrayBuffer} buffer
 * @param {{ perSecond: number, burst: number }} quota
 * @returns {() => void} stops it
 */
export function refill(buffer, { perSecond, burst }) {
  const tokens = new Int32Array(buffer);
  Atomics.store(tokens, 0, burst);
  let last = performance.now();
  let fraction = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const due = fraction + ((now - last) / 1000) * perSecond;
    const room = burst - Atomics.load(tokens, 0);
    const whole = Math.min(Math.floor(due), room);
    fraction = whole === room ? 0 : due - whole;
    last = now;
    if (whole > 0) Atomics.add(tokens, 0, whole);
  }, 1);
  return () => clearInterval(timer);
}
