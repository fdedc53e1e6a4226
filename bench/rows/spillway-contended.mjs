import { contend } from '../harness/contend.mjs';
import { checkTotals, grantLoop, startRuntime, startTicks } from './spillway-limiter.mjs';

/** @param {{ handle: import('../../dist/index.js').RuntimeHandle, extra: Int32Array }} shared */
export async function contender({ handle, extra }) {
  const run = grantLoop(handle);
  Atomics.add(extra, 0, await startTicks(run));
  return run;
}

export async function measure() {
  const runtime = await startRuntime('coarse');
  const extra = new Int32Array(new SharedArrayBuffer(4));
  const shared = { handle: runtime.handle(), extra };
  const { sample, all } = await contend(import.meta.url, shared);
  checkTotals(runtime, { granted: all + Atomics.load(extra, 0) });
  await runtime.close();
  return sample;
}
