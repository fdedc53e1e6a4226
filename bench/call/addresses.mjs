// 1,000,000 addresses that fail once each, beside some that are open: what is tracked, and what it costs.
import { createRuntime } from '../../dist/index.js';

const ADDRESSES = 1_000_000;
const MAX_ADDRESSES = 10_000;
const OPEN = 5000;
/** Failures between two turns of the loop. */
const BATCH = 200;
const WARM_UP = 100_000;

export async function measure() {
  const runtime = await createRuntime({
    breaker: { maxAddresses: MAX_ADDRESSES, cooldownMs: 3_600_000 },
  });
  const { gate } = runtime;
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < OPEN; i += 1) {
    const breaker = gate.breaker(`open-${i}:5000`);
    for (let n = 0; n < 3; n += 1) breaker.admit().failure();
    if (i % BATCH === 0) await turn();
  }
  let mostTracked = 0;
  let warm = memory();
  let busyMs = 0;
  for (let i = 0; i < ADDRESSES; i += BATCH) {
    if (i === WARM_UP) warm = memory();
    const start = performance.now();
    for (let n = 0; n < BATCH; n += 1)
      gate
        .breaker(`peer-${i + n}:5000`)
        .admit()
        .failure();
    busyMs += performance.now() - start;
    if (i % 10_000 === 0) mostTracked = Math.max(mostTracked, runtime.snapshot().breaker.tracked);
    await turn();
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  const grown = memory();
  const { breaker } = runtime.snapshot();
  let stillOpen = 0;
  for (let i = 0; i < OPEN; i += 1) {
    if (gate.breaker(`open-${i}:5000`).state().state === 'open') stillOpen += 1;
  }
  await runtime.close();
  return {
    addresses: ADDRESSES,
    maxAddresses: MAX_ADDRESSES,
    mostTracked,
    tracked: breaker.tracked,
    evicted: breaker.evicted,
    untracked: breaker.untracked,
    open: OPEN,
    stillOpen,
    nsPerFailure: (busyMs / ADDRESSES) * 1e6,
    heapGrowthMiB: (grown.heap - warm.heap) / 2 ** 20,
    arrayBufferGrowthMiB: (grown.arrayBuffers - warm.arrayBuffers) / 2 ** 20,
  };
}

function memory() {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heap: heapUsed, arrayBuffers };
}
