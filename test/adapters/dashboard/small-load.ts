/** A runtime under a load that has it slow tables, and open the circuit of one address. */
import { attach, BusyError, createRuntime, type Runtime } from '../../../dist/index.js';

export interface SmallLoad {
  readonly runtime: Runtime;
  stop(): Promise<void>;
}

const EVERY_MS = 20;

/** @param tables of which the first are the hottest. */
export async function startLoad(tables: readonly string[]): Promise<SmallLoad> {
  const runtime = await createRuntime({
    host: { rpcs: { commit_rowset: { qpsPerCore: 500 }, get_tablet_stats: { qpsPerCore: 50 } } },
    tables: {
      enabled: true,
      rpcs: ['commit_rowset'],
      topK: tables.length,
      windowMs: 1000,
      upgradeIntervalMs: 1000,
      downgradeIntervalMs: 60_000,
    },
    waiting: { maxWaitMs: 50 },
  });
  const gate = attach();
  let turn = 0;
  const quiet = (call: Promise<unknown>): void => void call.catch(() => undefined);
  const timer = setInterval(() => {
    turn += 1;
    for (const table of tables) {
      quiet(
        gate.call({ rpc: 'commit_rowset', table }, async () => {
          if (turn % 10 === 0) throw new BusyError('the service is overloaded');
        }),
      );
    }
    quiet(
      gate.call({ rpc: 'get_tablet_stats', address: '10.0.0.7:9050' }, async () => {
        throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      }),
    );
  }, EVERY_MS);
  return {
    runtime,
    async stop() {
      clearInterval(timer);
      await runtime.close({ deadlineMs: 0 });
    },
  };
}
