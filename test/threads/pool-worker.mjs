/** Tasks of a piscina pool, whose workers find the runtime through the environment data. */
import { attach, BusyError, RateLimitExceededError } from '../../dist/index.js';

/** @param {{ rpc: string }} task */
export function take({ rpc }) {
  return attach().tryAcquire(rpc);
}

/** How long the downstream counts calls against its capacity, ms. */
const SLICE_MS = 20;

/**
 * Calls a downstream that all workers share until told to stop: hot tables as fast as they are let, a cold one now and
 * then. `words`: [0] stop, [1] the downstream's time slice, [2] calls in it, [3] BUSY answers so far.
 * @param {{
 *   words: Int32Array,
 *   capacityPerSecond: number,
 *   epoch: bigint,
 *   hot: readonly string[],
 *   cold: string,
 * }} load
 */
export async function drive({ words, capacityPerSecond, epoch, hot, cold }) {
  const gate = attach();
  const tally = { hotOk: 0, coldOk: 0, refused: 0 };
  const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

  const serve = async () => {
    const slice = Number((process.hrtime.bigint() - epoch) / BigInt(SLICE_MS * 1e6));
    if (Atomics.exchange(words, 1, slice) !== slice) Atomics.store(words, 2, 0);
    if (Atomics.add(words, 2, 1) < (capacityPerSecond * SLICE_MS) / 1000) return pause(1);
    Atomics.add(words, 3, 1);
    throw new BusyError('too much for the downstream');
  };

  const call = async (/** @type {string} */ table, /** @type {'hotOk' | 'coldOk'} */ which) => {
    try {
      await gate.call({ rpc: 'commit', table, maxWaitMs: 30 }, serve);
      tally[which] += 1;
    } catch (error) {
      if (error instanceof RateLimitExceededError) tally.refused += 1;
      else if (!(error instanceof BusyError)) throw error;
      await pause(1);
    }
  };

  const keepCalling = async (/** @type {string} */ table, /** @type {number} */ everyMs) => {
    while (Atomics.load(words, 0) === 0) {
      await call(table, everyMs === 0 ? 'hotOk' : 'coldOk');
      if (everyMs > 0) await pause(everyMs);
    }
  };

  const callers = hot.flatMap((table) => Array.from({ length: 6 }, () => keepCalling(table, 0)));
  await Promise.all([...callers, keepCalling(cold, 25)]);
  return tally;
}
