import { timeLoop } from '../harness/time-loop.mjs';
import { checkTotals, grantLoop, startRuntime, tickingFor } from './spillway-limiter.mjs';

export async function measure() {
  const runtime = await startRuntime('coarse');
  let granted = await tickingFor(runtime);
  const run = grantLoop(runtime.handle());
  const sample = await timeLoop((n) => {
    granted += n;
    return run(n);
  });
  checkTotals(runtime, { granted });
  await runtime.close();
  return sample;
}
