import { timeLoop } from '../harness/time-loop.mjs';
import { startCircuits } from './circuit-runtime.mjs';

/** A dead peer: what a refusal costs, its error included. */
export async function measure() {
  const { breaker, close } = await startCircuits();
  for (let i = 0; i < 3; i += 1) breaker.admit().failure();
  const sample = await timeLoop((n) => {
    let refused = 0;
    for (let i = 0; i < n; i += 1) {
      try {
        breaker.admit();
      } catch {
        refused += 1;
      }
    }
    return refused;
  });
  await close();
  return sample;
}
