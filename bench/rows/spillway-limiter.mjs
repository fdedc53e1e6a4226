// A runtime with one limiter, reached through the public API.
import { availableParallelism } from 'node:os';
import { attach, createRuntime } from '../../dist/index.js';

const RPC = 'bench';
/** As high as a limit can be, and a burst that no row uses up: every permit is granted. */
const GRANTS_ALL = { qpsPerCore: Math.floor(1e7 / availableParallelism()), burst: 1e12 };
/** Nothing comes back while a row runs. */
const REFUSES = { qpsPerCore: 1e-4, burst: 1 };

/**
 * @param {'precise' | 'coarse'} clock
 * @param {'grants' | 'refuses'} kind
 */
export async function startRuntime(clock, kind = 'grants') {
  const limits = kind === 'grants' ? GRANTS_ALL : REFUSES;
  const runtime = await createRuntime({ host: { rpcs: { [RPC]: { ...limits, clock } } } });
  const expected = process.env['SPILLWAY_KERNEL'] === 'twin' ? 'twin' : 'wasm';
  if (runtime.kernel !== expected) throw new Error(`the kernel is ${runtime.kernel}`);
  return runtime;
}

/** `n` attempts; how many were granted.
 * @param {import('../../dist/index.js').RuntimeHandle} handle
 * @returns {(n: number) => number}
 */
export function grantLoop(handle) {
  const limiter = attach(handle).limiter(RPC);
  return (n) => {
    let granted = 0;
    for (let i = 0; i < n; i += 1) if (limiter.tryAcquire()) granted += 1;
    return granted;
  };
}

/** The totals of the arena must say what the threads counted.
 * @param {import('../../dist/index.js').Runtime} runtime
 * @param {{ granted?: number, refused?: number }} expected
 */
export function checkTotals(runtime, { granted = 0, refused = 0 }) {
  const totals = runtime.snapshot().rpcs.find(({ rpc }) => rpc === RPC);
  if (totals?.granted !== granted || totals.spent !== granted || totals.refused !== refused) {
    throw new Error(
      `${granted} granted and ${refused} refused, but counted ${JSON.stringify(totals)}`,
    );
  }
}

/** Enough that the engine has seen the way around the coarse clock too, as in a program that runs for a while. */
const BEFORE_TICKS = 2000;

/** Runs until the coarse clock ticks.
 * @param {(n: number) => number} run
 * @returns {Promise<number>} permits that this took
 */
export async function startTicks(run) {
  const granted = run(BEFORE_TICKS);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return granted;
}
