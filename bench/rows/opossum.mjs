import CircuitBreaker from 'opossum';
import { timeAsyncLoop } from '../harness/async-loop.mjs';

export function measure() {
  return timeBreaker(false);
}

/** @param {number | false} timeout */
export async function timeBreaker(timeout) {
  const breaker = new CircuitBreaker(async () => 1, { timeout });
  const sample = await timeAsyncLoop(async (n) => {
    let right = 0;
    for (let i = 0; i < n; i += 1) if ((await breaker.fire()) === 1) right += 1;
    return right;
  });
  breaker.shutdown();
  return sample;
}
