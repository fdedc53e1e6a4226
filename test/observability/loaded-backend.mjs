// A process of its own under a small load that has something of everything to show. argv: a directory for its store, JSON of
// its tables. Says the port of its metrics; ends with its stdin.
import { createServer } from 'node:http';
import { Registry } from 'prom-client';
import { openKvStore } from '../../dist/adapters/kv.js';
import { createKvWriter } from '../../dist/adapters/kv-client.js';
import { createKvPrometheusMetrics } from '../../dist/adapters/kv-prometheus.js';
import { startKvServer } from '../../dist/adapters/kv-server.js';
import { createKvWriterPrometheusMetrics } from '../../dist/adapters/kv-writer-prometheus.js';
import { createPrometheusMetrics } from '../../dist/adapters/prometheus.js';
import { BusyError, createRuntime } from '../../dist/index.js';

const [dir = '', names = '[]'] = process.argv.slice(2);
/** @type {string[]} */
const tables = JSON.parse(names);
const runtime = await createRuntime({
  backendId: 10001,
  host: {
    rpcs: { commit_rowset: { qpsPerCore: 10, burst: 5 }, get_rowset: { qpsPerCore: 10_000 } },
  },
  tables: {
    enabled: true,
    rpcs: ['get_rowset'],
    topK: 100,
    upgradeIntervalMs: 1000,
    downgradeIntervalMs: 600_000,
    floorQps: 2,
  },
  waiting: { maxWaitMs: 300 },
  breaker: { failureThreshold: 3, cooldownMs: 500 },
});
const { gate } = runtime;
gate.breaker('unix:/run/"a"{b}\\c.sock').open();
const store = await openKvStore({ dir, tables: { orders: 2 } });
const kvServer = await startKvServer({ store });
const writer = await createKvWriter({ target: `127.0.0.1:${kvServer.port}` });

const register = new Registry();
createPrometheusMetrics(runtime, { register });
createKvPrometheusMetrics(store, { register });
createKvWriterPrometheusMetrics(writer, { register });
const server = createServer((_request, response) => {
  register.metrics().then(
    (text) => response.setHeader('content-type', register.contentType).end(text),
    (error) => response.writeHead(500).end(String(error)),
  );
});

let round = 0;
const hang = () => new Promise(() => undefined);
const ignore = () => undefined;
const load = setInterval(() => {
  round += 1;
  /** @type {Promise<unknown>[]} */
  const calls = [];
  for (const table of tables)
    calls.push(gate.call({ rpc: 'get_rowset', table }, async () => 'rows'));
  // More than the host-level limit lets through: some wait, some are refused.
  const busy = () => Promise.reject(new BusyError('busy'));
  for (let n = 0; n < 4; n += 1) {
    calls.push(gate.call({ rpc: 'commit_rowset', retry: false }, busy));
  }
  const fail = () => Promise.reject(new Error('connection refused'));
  calls.push(
    gate.call({ rpc: 'get_rowset', address: 'dead:1', retry: { maxAttempts: 2 } }, fail),
    gate.call({ rpc: 'get_rowset', attemptTimeoutMs: 10, retry: false }, hang),
    gate.call({ rpc: 'get_rowset', deadlineMs: 10, retry: false }, hang),
    gate.readFromPeers(
      { candidates: ['dead:1', round % 2 === 0 ? 'peer:1' : 'dead:1'] },
      async (address) => (address === 'peer:1' ? 'block' : fail()),
      () => 'from the store',
    ),
    writer.put('orders', `written ${round}`, 'by a writer'),
    store.put('orders', round % 2, [{ key: Buffer.from(String(round)), value: Buffer.alloc(64) }]),
  );
  gate.pressure('orders/1').report(0.9);
  calls.push(gate.call({ rpc: 'get_rowset', bucket: 'orders/1' }, async () => 'ok'));
  for (const call of calls) call.catch(ignore);
}, 100);

server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.stdout.write(`${port}\n`);
});
process.stdin
  .on('end', async () => {
    clearInterval(load);
    server.close();
    server.closeAllConnections();
    await runtime.close({ deadlineMs: 0 });
    await writer.close({ deadlineMs: 0 });
    await kvServer.close({ deadlineMs: 0 });
    await store.close();
  })
  .resume();
