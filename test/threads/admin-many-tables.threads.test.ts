import { availableParallelism } from 'node:os';
import { afterEach, expect, it } from 'vitest';
import { BusyError, createRuntime, type Runtime } from '../../dist/index.js';
import { statesOf } from '../adapters/admin/stream-client.js';
import { openStream } from './admin-client.js';
import { until } from './until.js';

const TABLES = 10_000;
/** Behind every number, so that each is hostile in all ways at once. */
const HOSTILE = '\n\r</script>"\\\u2028\ud800😀';

let runtime: Runtime;
afterEach(() => runtime.close({ deadlineMs: 0 }));

it('shows 10,000 slowed tables with hostile names as 1000 of them, the most severe first', async () => {
  runtime = await createRuntime({
    host: { rpcs: { write: { qpsPerCore: 1e6 / availableParallelism() } } },
    tables: {
      enabled: true,
      rpcs: ['write'],
      topK: TABLES,
      windowMs: 600_000,
      upgradeIntervalMs: 10,
      downgradeIntervalMs: 600_000,
      floorQps: 1e-6,
    },
    waiting: { maxWaitMs: 0 },
  });
  const { gate } = runtime;
  const name = (i: number): string => `${i}${HOSTILE}`;
  for (let i = 0; i < TABLES; i += 1) {
    await gate.call({ rpc: 'write', table: name(i) }, () => 1);
  }
  await until('all are slowed', () => {
    gate
      .call({ rpc: 'write', table: name(0), classify: () => 'busy' }, () => {
        throw new BusyError('busy');
      })
      .catch(() => undefined);
    return runtime.snapshot().limits.length === TABLES;
  });

  const { url } = await runtime.admin.listen({ port: 0 });
  const text = await (await fetch(`${url}/state`)).text();
  const state = JSON.parse(text);
  expect(state).toMatchObject({ throttledTotal: TABLES });
  expect(state.throttled).toHaveLength(1000);
  expect(state.runtime.limits).toHaveLength(1000);
  for (const { table } of state.throttled) expect(table).toMatch(/^\d+\n\r<\/script>/);
  expect(state.throttled[0].table.endsWith(HOSTILE)).toBe(true);
  expect(text.length).toBeLessThan(1_000_000);
  const stream = await openStream(url);
  await until('two states', () => statesOf(stream.text()).length === 2);
  expect(statesOf(stream.text())[1]?.throttled).toHaveLength(1000);
  stream.cut();
});
