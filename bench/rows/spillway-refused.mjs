import { timeLoop } from '../harness/time-loop.mjs';
import { checkTotals, grantLoop, startRuntime } from './spillway-limiter.mjs';

export async function measure() {
  const runtime = await startRuntime('precise', 'refuses');
  const run = grantLoop(runtime.handle());
  if (run(1) !== 1) throw new Error('a full bucket must grant its burst');
  let refused = 0;
  const sample = await timeLoop((n) => {
    refused += n;
    return n - run(n);
  });
  checkTotals(runtime, { granted: 1, refused });
  await runtime.close();
  return sample;
}
