// A backend with an admin server and one throttled table. Prints its address; ends when its input does.
import { setTimeout as sleep } from 'node:timers/promises';
import { BusyError, createRuntime } from '../../dist/index.js';

const [backendId = '1', table = 'orders', token] = process.argv.slice(2);
const runtime = await createRuntime({
  backendId: BigInt(backendId),
  host: { rpcs: { commit_rowset: { qpsPerCore: 500 } } },
  tables: { enabled: true, rpcs: ['commit_rowset'], topK: 1, downgradeIntervalMs: 86_400_000 },
});
const { url } = await runtime.admin.listen({ port: 0, ...(token === undefined ? {} : { token }) });
for (let round = 0; runtime.snapshot().limits.length === 0; round += 1) {
  if (round > 100) throw new Error('nothing was throttled');
  for (let i = 0; i < 300; i += 1) {
    await runtime.gate.call({ rpc: 'commit_rowset', table }, async () => 'ok');
  }
  await sleep(300);
  await runtime.gate
    .call({ rpc: 'commit_rowset', table }, () => Promise.reject(new BusyError('busy')))
    .catch(() => undefined);
  await sleep(300);
}
process.stdout.write(`${url}\n`);
process.stdin.resume();
await new Promise((resolve) => process.stdin.once('end', resolve));
await runtime.close();
