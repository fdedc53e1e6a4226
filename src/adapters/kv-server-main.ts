/** `npm run kv:server`: a store behind `spillway.kv.v1`, until SIGTERM or SIGINT. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describeKvEvent } from '../workers/kv/kv-event.js';
import type { KvStore } from '../workers/kv/kv-store.js';
import { openKvStore } from './kv-open.js';
import { createKvPrometheusMetrics } from './kv-prometheus.js';
import { startKvServer } from './kv-server.js';
import {
  KV_SERVER_USAGE,
  type KvServerArguments,
  readKvServerArguments,
} from './kv-server-arguments.js';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

function readArguments(): KvServerArguments | undefined {
  try {
    return readKvServerArguments(process.argv.slice(2));
  } catch (error) {
    complain(`${describe(error)}\n\n${KV_SERVER_USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

async function run({
  store: options,
  host,
  port,
  advertise,
  metricsPort,
  drainMs,
}: KvServerArguments): Promise<void> {
  const store = await openKvStore({
    ...options,
    onEvent: (event) => complain(describeKvEvent(event)),
  });
  let metrics: Server | undefined;
  try {
    const server = await startKvServer({
      store,
      host,
      port,
      ...(advertise === undefined ? {} : { advertise }),
    });
    if (metricsPort !== undefined) metrics = await serveMetrics(store, host, metricsPort);
    say(`listening on ${host}:${server.port}`);
    if (metrics !== undefined) {
      say(`metrics on http://${host}:${(metrics.address() as AddressInfo).port}/metrics`);
    }
    await new Promise<void>((resolve) => {
      process.once('SIGTERM', resolve);
      process.once('SIGINT', resolve);
    });
    await server.close({ deadlineMs: drainMs });
  } finally {
    metrics?.close();
    metrics?.closeAllConnections();
    await store.close();
  }
  say('closed');
}

async function serveMetrics(store: KvStore, host: string, port: number): Promise<Server> {
  const register = new Registry();
  createKvPrometheusMetrics(store, { register });
  // Among them the delay of this thread's event loop, which serves the RPCs.
  collectDefaultMetrics({ register });
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    register.metrics().then(
      (text) => response.writeHead(200, { 'content-type': register.contentType }).end(text),
      (error: unknown) => response.writeHead(500).end(describe(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

const given = readArguments();
if (given !== undefined) {
  run(given).catch((error: unknown) => {
    complain(describe(error));
    process.exitCode = 1;
  });
}
