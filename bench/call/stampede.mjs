// 8 threads call a peer whose cooldown has just ended, 1,000 times each, 200 times over; the probe hangs until all have.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createRuntime } from '../../dist/index.js';

const THREADS = 8;
const CALLS = 1000;
const ROUNDS = 200;
const RPC = 'bench';
const ENTRY = new URL('./stampede-worker.mjs', import.meta.url);

export async function measure() {
  const runtime = await createRuntime({
    host: { rpcs: { [RPC]: { qpsPerCore: 0 } } },
    breaker: { cooldownMs: 15, probeTimeoutMs: 600_000 },
  });
  const words = new Int32Array(new SharedArrayBuffer((1 + 2 * ROUNDS) * 4));
  const common = { threads: THREADS, calls: CALLS, rounds: ROUNDS, rpc: RPC, words };
  const start = performance.now();
  const workers = Array.from(
    { length: THREADS },
    (_, thread) =>
      new Worker(ENTRY, { workerData: { ...common, thread, handle: runtime.handle() } }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const tookMs = performance.now() - start;
  await Promise.all(workers.map((worker) => worker.terminate()));
  const probes = [...words.subarray(1, 1 + ROUNDS)];
  const refused = [...words.subarray(1 + ROUNDS)];
  const { breaker } = runtime.snapshot();
  if (breaker.probes !== ROUNDS || breaker.recovered !== ROUNDS)
    throw new Error(`${ROUNDS} rounds, but counted ${JSON.stringify(breaker)}`);
  await runtime.close();
  return {
    threads: THREADS,
    callsPerThread: CALLS,
    rounds: ROUNDS,
    fewestProbes: Math.min(...probes),
    mostProbes: Math.max(...probes),
    roundsWithOneProbe: probes.filter((n) => n === 1).length,
    fewestRefused: Math.min(...refused),
    tookMs,
  };
}
