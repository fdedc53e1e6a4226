import { timeLoop } from '../harness/time-loop.mjs';
import { startCircuits } from './circuit-runtime.mjs';

/** An address that was open a moment ago: its circuit is kept, to know late results by. */
export async function measure() {
  const { breaker, close } = await startCircuits();
  for (let i = 0; i < 3; i += 1) breaker.admit().failure();
  breaker.close();
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
