// 1,000,000 calls on one long-lived signal, each with an attempt time-out and a signal of its own that is read: what is
// left of them on the signal and in memory.
import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRuntime } from '../../dist/index.js';

const CALLS = 1_000_000;
const STEPS = 10;
/** At one time. */
const TOGETHER = 50;

export async function measure() {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  const runtime = await createRuntime({ host: { rpcs: { bench: { qpsPerCore: 0 } } } });
  const { gate } = runtime;
  const { signal } = new AbortController();
  const options = { rpc: 'bench', signal, attemptTimeoutMs: 60_000, address: '10.0.0.7:5000' };
  let [answered, mostListeners] = [0, 0];
  const heapMiB = [];
  const start = performance.now();
  for (let step = 0; step < STEPS; step += 1) {
    for (let i = 0; i < CALLS / STEPS; i += TOGETHER) {
      const calls = Array.from({ length: TOGETHER }, () =>
        gate.call(options, async (context) => {
          if (context.signal?.aborted !== false) throw new Error('no signal');
        }),
      );
      mostListeners = Math.max(mostListeners, getEventListeners(signal, 'abort').length);
      await Promise.all(calls);
      answered += calls.length;
    }
    gc();
    heapMiB.push(process.memoryUsage().heapUsed / 2 ** 20);
  }
  const elapsedMs = performance.now() - start;
  const listeners = getEventListeners(signal, 'abort').length;
  const { conservation } = runtime.snapshot();
  if (answered !== CALLS || !conservation.ok) throw new Error('a call was lost');
  await runtime.close();
  return { calls: CALLS, listeners, mostListeners, heapMiB, elapsedMs };
}
