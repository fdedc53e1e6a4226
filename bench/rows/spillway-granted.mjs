import { timeLoop } from '../harness/time-loop.mjs';
import { checkTotals, grantLoop, startRuntime, startTicks } from './spillway-limiter.mjs';

export async function measure() {
  const runtime = await startRuntime('coarse');
  const run = grantLoop(runtime.handle());
  let granted = await startTicks(run);
  const sample = await timeLoop((n) => {
    granted += n;
    return run(n);
  });
  checkTotals(runtime, { granted });
  await runtime.close();
  return sample;
}
