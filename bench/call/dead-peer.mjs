// 8 threads read from two peers, of which the first, which they prefer, hangs when it is connected to.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createRuntime } from '../../dist/index.js';
import { startPeer } from './hanging-peer.mjs';

const THREADS = 8;
const THRESHOLD = 3;
const COOLDOWN_MS = 2000;
const RUN_MS = 10_000;

export async function measure() {
  const dead = await startPeer(4);
  const alive = await startPeer(511);
  try {
    await dead.hang();
    const ports = { dead: `127.0.0.1:${dead.port}`, alive: `127.0.0.1:${alive.port}` };
    const without = await readWith(false, ports);
    const held = await readWith(true, ports);
    return {
      threads: THREADS,
      threshold: THRESHOLD,
      cooldownMs: COOLDOWN_MS,
      without,
      with: held,
      p99Ratio: held.p99Ms / without.p99Ms,
    };
  } finally {
    await dead.stop();
    await alive.stop();
  }
}

/** @param {boolean} enabled @param {{ dead: string, alive: string }} ports */
async function readWith(enabled, ports) {
  const runtime = await createRuntime({
    breaker: { enabled, failureThreshold: THRESHOLD, cooldownMs: COOLDOWN_MS },
  });
  /** Threads that are ready, 1 go and 2 stop, attempts to the dead peer. */
  const words = new Int32Array(new SharedArrayBuffer(12));
  const attempts = new Float64Array(new SharedArrayBuffer(8 * 1_000_000));
  const data = {
    handle: runtime.handle(),
    ...ports,
    attempts,
    words,
    epochNs: process.hrtime.bigint(),
  };
  const entry = new URL('./peer-reader.mjs', import.meta.url);
  const workers = Array.from({ length: THREADS }, () => new Worker(entry, { workerData: data }));
  const results = Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  while (Atomics.load(words, 0) < THREADS) await sleep(5);
  Atomics.store(words, 1, 1);
  await sleep(RUN_MS);
  Atomics.store(words, 1, 2);
  /** @type {number[]} */
  const latencies = (await results).flat().sort((a, b) => a - b);
  await Promise.all(workers.map((worker) => worker.terminate()));
  const times = [...attempts.subarray(0, Atomics.load(words, 2))].sort((a, b) => a - b);
  await runtime.close();
  return {
    reads: latencies.length,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? Number.NaN,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    attemptsToDeadPeer: times.length,
    mostPerCooldown: mostWithin(times, COOLDOWN_MS),
  };
}

/** Most of the times that lie within any stretch of that length.
 * @param {readonly number[]} times ascending
 * @param {number} ms
 */
function mostWithin(times, ms) {
  let [most, first] = [0, 0];
  for (const [last, time] of times.entries()) {
    while (time - /** @type {number} */ (times[first]) >= ms) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
