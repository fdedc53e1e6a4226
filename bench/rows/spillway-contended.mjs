import { contend } from '../harness/contend.mjs';
import { checkTotals, grantLoop, startRuntime, tickingFor } from './spillway-limiter.mjs';

/** @param {import('../../dist/index.js').RuntimeHandle} handle */
export async function contender(handle) {
  const run = grantLoop(handle);
  const first = run(1);
  // Until the coarse clock ticks.
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (first !== 1) throw new Error('the first permit was refused');
  return run;
}

export async function measure() {
  const runtime = await startRuntime('coarse');
  const warm = await tickingFor(runtime);
  const { sample, all } = await contend(import.meta.url, runtime.handle());
  checkTotals(runtime, { granted: warm + all + sample.threads });
  await runtime.close();
  return sample;
}
