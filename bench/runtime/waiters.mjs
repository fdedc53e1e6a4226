// 50,000 waiters on one limiter: timer callbacks per grant, and what it takes to abort all of them.
import { availableParallelism } from 'node:os';
import { createRuntime } from '../../dist/index.js';

const WAITERS = 50_000;
const RATES = [50, 1000, 20_000];
const RUN_MS = 2000;

export async function measure() {
  const timers = countTimerCallbacks();
  const results = [];
  for (const qps of RATES) results.push(await waitersAt(qps, timers));
  return { waiters: WAITERS, runs: results };
}

/** @param {number} qps @param {ReturnType<typeof countTimerCallbacks>} timers */
async function waitersAt(qps, timers) {
  const runtime = await createRuntime({
    host: { rpcs: { bench: { qpsPerCore: qps / availableParallelism(), burst: 1 } } },
    waiting: { maxWaiters: WAITERS, maxWaitMs: 86_400_000 },
  });
  const { gate } = runtime;
  const abort = new AbortController();
  let granted = 0;
  let aborted = 0;
  const all = Array.from({ length: WAITERS }, () =>
    gate.acquire('bench', { signal: abort.signal }).then(
      () => {
        granted += 1;
      },
      () => {
        aborted += 1;
      },
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  const before = { granted, callbacks: timers.count() };
  await new Promise((resolve) => setTimeout(resolve, RUN_MS));
  // The pause of this run is one of them.
  const callbacks = timers.count() - before.callbacks - 1;
  const grants = granted - before.granted;
  const grantedBefore = granted;
  const start = performance.now();
  abort.abort();
  await Promise.all(all);
  const abortAllMs = performance.now() - start;
  const totals = runtime.snapshot().rpcs.find(({ rpc }) => rpc === 'bench');
  const conserved = runtime.snapshot().conservation;
  if (granted + aborted !== WAITERS) throw new Error('a waiter was lost');
  if (totals?.spent !== granted) throw new Error(`${totals?.spent} spent, ${granted} granted`);
  if (callbacks < 1) throw new Error('no timer was counted');
  if (!conserved.ok) throw new Error(`not conserved: ${JSON.stringify(conserved)}`);
  await runtime.close();
  return {
    qps,
    grants,
    callbacks,
    callbacksPerGrant: callbacks / grants,
    aborted,
    abortAllMs,
    /** By waiters that were aborted. */
    permitsTakenByAborted: totals.spent - grantedBefore,
    returned: totals.returned,
    lost: totals.lost,
  };
}

/** Callbacks of the timers that this thread arms from now on. */
function countTimerCallbacks() {
  let callbacks = 0;
  const { setTimeout: arm } = globalThis;
  /** @param {(...args: unknown[]) => void} callback @param {number} ms @param {unknown[]} args */
  const counted = (callback, ms, ...args) =>
    arm(() => {
      callbacks += 1;
      callback(...args);
    }, ms);
  globalThis.setTimeout = /** @type {never} */ (counted);
  return { count: () => callbacks };
}
