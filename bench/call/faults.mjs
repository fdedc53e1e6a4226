// 10,000 calls with random faults at every await, in threads of which every now and then one is killed: afterwards no
// permit is missing, nothing is wedged, nothing is left.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createRuntime } from '../../dist/index.js';
import { drawsOf } from './draws.mjs';

const PATIENCE_MS = 15_000;

export function measure() {
  const seed = Number(process.env['SEED'] ?? 20260611);
  return runFaults({ calls: 10_000, threads: 4, seed, lifeMs: 2000 });
}

/** `lifeMs`: a thread is killed at some time from a quarter of it on.
 * @param {{ calls: number, threads: number, seed: number, lifeMs: number }} terms
 */
export async function runFaults({ calls, threads, seed, lifeMs }) {
  const runtime = await createRuntime({
    host: { rpcs: { bench: { qpsPerCore: 1500, burst: 20 }, probe: { qpsPerCore: 0 } } },
    tables: { enabled: true, rpcs: ['bench'], upgradeIntervalMs: 50, downgradeIntervalMs: 50 },
    breaker: { failureThreshold: 3, cooldownMs: 30, probeTimeoutMs: 200 },
    retry: { maxAttempts: 3, baseDelayMs: 2, maxDelayMs: 8, budgetPerSecond: 1000 },
    waiting: { maxWaitMs: 40, maxWaiters: 64 },
  });
  const draw = drawsOf(seed);
  /** Calls begun and ended. */
  const words = new Int32Array(new SharedArrayBuffer(8));
  let [started, kills] = [0, 0];
  const entry = new URL('./faulty-caller.mjs', import.meta.url);
  const isOver = () => Atomics.load(words, 0) >= calls;
  /** One place: a thread that was killed is followed by another. */
  const place = async () => {
    while (!isOver()) {
      started += 1;
      const own = seed + started * 7919;
      const workerData = { handle: runtime.handle(), seed: own, words, calls };
      const worker = new Worker(entry, { workerData });
      const exited = once(worker, 'exit');
      const life = lifeMs / 4 + draw((lifeMs * 3) / 4);
      const over = new AbortController();
      const lived = sleep(life, true, { signal: over.signal }).catch(() => false);
      const killed = await Promise.race([exited.then(() => false), lived]);
      over.abort();
      if (!killed || isOver()) {
        await exited;
        continue;
      }
      kills += 1;
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: threads }, place));
  await until('every thread is swept', () => runtime.snapshot().threads === 0);
  const { conservation } = runtime.snapshot();
  const { granted, spent, returned, lost } = conservation;
  if (!conservation.ok || conservation.held !== 0 || granted !== spent + returned + lost)
    throw new Error(`not conserved (seed ${seed}): ${JSON.stringify(conservation)}`);
  await runtime.updateConfig({ tables: { enabled: false }, host: { enabled: false } });
  const wedged = await findWedged(runtime);
  if (wedged.length > 0) throw new Error(`wedged (seed ${seed}): ${wedged.join()}`);
  const [rpc] = runtime.snapshot().rpcs;
  await runtime.close();
  const left = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  return {
    seed,
    calls,
    ended: Atomics.load(words, 1),
    kills,
    attempts: rpc?.calls,
    retries: rpc?.retries,
    timeouts: rpc?.timeouts,
    late: rpc?.late,
    conservation,
    timersLeft: left,
  };
}

/** Addresses whose circuit does not close although the peer is well again.
 * @param {import('../../dist/index.js').Runtime} runtime
 */
async function findWedged(runtime) {
  const wedged = [];
  for (const address of [0, 1, 2, 3].map((n) => `10.0.0.${n}:80`)) {
    const deadline = performance.now() + 2000;
    let isWell = false;
    while (!isWell && performance.now() < deadline) {
      isWell = await runtime.gate.call({ rpc: 'probe', address }, () => true).catch(() => false);
      if (!isWell) await sleep(20);
    }
    if (!isWell || runtime.gate.breaker(address).state().state !== 'closed') wedged.push(address);
  }
  return wedged;
}

/** @param {string} what @param {() => boolean} holds */
async function until(what, holds) {
  const deadline = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`still not: ${what}`);
    await sleep(20);
  }
}
