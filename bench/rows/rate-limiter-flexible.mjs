// Its only verb is a promise, so the loop waits for each.
import { RateLimiterMemory } from 'rate-limiter-flexible';

const WARM = 50_000;
const TIMED = 500_000;

export async function measure() {
  const limiter = new RateLimiterMemory({ points: 1e12, duration: 3600 });
  await consume(limiter, WARM);
  const start = performance.now();
  const last = await consume(limiter, TIMED);
  const elapsedNs = (performance.now() - start) * 1e6;
  if (last !== WARM + TIMED) throw new Error(`${last} points were consumed`);
  await limiter.delete('key');
  return { threads: 1, ops: TIMED, nsPerOp: elapsedNs / TIMED };
}

/** @param {RateLimiterMemory} limiter @param {number} n */
async function consume(limiter, n) {
  let consumed = 0;
  for (let i = 0; i < n; i += 1) consumed = (await limiter.consume('key')).consumedPoints;
  return consumed;
}
