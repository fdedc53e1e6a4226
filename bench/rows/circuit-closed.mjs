import { timeLoop } from '../harness/time-loop.mjs';
import { startCircuits } from './circuit-runtime.mjs';

/** A healthy address: no circuit is kept for it. */
export async function measure() {
  const { breaker, close } = await startCircuits();
  const sample = await timeLoop((n) => {
    let admitted = 0;
    for (let i = 0; i < n; i += 1) {
      const permit = breaker.admit();
      if (!permit.isProbe) admitted += 1;
      permit.success();
    }
    return admitted;
  });
  await close();
  return sample;
}
