// gate.call through host limit, table limit and circuit breaker, none of which makes anybody wait.
import { availableParallelism } from 'node:os';
import { createRuntime } from '../../dist/index.js';
import { timeAsyncLoop } from '../harness/async-loop.mjs';

/**
 * @param {Omit<import('../../dist/index.js').CallOptions<number>, 'rpc'>} options
 * @param {(context: import('../../dist/index.js').AttemptContext) => Promise<number>} attempt
 * @param {import('../../dist/index.js').RuntimeOptions['retry']} [retry]
 */
export async function timeCalls(options, attempt, retry = { maxAttempts: 3 }) {
  const qpsPerCore = Math.floor(1e7 / availableParallelism());
  const runtime = await createRuntime({
    host: { rpcs: { bench: { qpsPerCore, burst: 1e12 } } },
    tables: { enabled: true, rpcs: ['bench'] },
    retry,
  });
  const { gate } = runtime;
  const sample = await timeAsyncLoop(async (n) => {
    let right = 0;
    for (let i = 0; i < n; i += 1) {
      const call = { rpc: 'bench', table: 10086, address: '10.0.0.7:5000', ...options };
      if ((await gate.call(call, attempt)) === 1) right += 1;
    }
    return right;
  });
  const { rpcs, conservation } = runtime.snapshot();
  if (rpcs[0]?.calls !== sample.all) throw new Error(`${rpcs[0]?.calls} of ${sample.all} calls`);
  if (!conservation.ok || conservation.held !== 0 || conservation.spent < sample.all) {
    throw new Error(`not conserved: ${JSON.stringify(conservation)}`);
  }
  await runtime.close();
  return sample;
}
