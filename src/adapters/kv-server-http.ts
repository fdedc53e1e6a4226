import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { thrownText } from '../shared/thrown-text.js';
import { createKvProcessState } from '../workers/state/kv-process-state.js';
import type { RuntimeState } from '../workers/state/runtime-state.js';
import { createKvPrometheusMetrics, type KvMetricsSource } from './kv-prometheus.js';
import { loadPeer } from './load-peer.js';

export interface KvServerHttpOptions {
  readonly store: KvMetricsSource;
  /** Of the store in `/state`. */
  readonly name: string;
  readonly host: string;
  /** 0: one that is free. */
  readonly port: number;
}

export interface KvServerHttp {
  readonly port: number;
  /** From now on `/healthz` answers 503: nothing more is taken. */
  drain(): void;
  close(): void;
}

/** `/metrics`, `/healthz` and `/state` of a key-value server, for GET and HEAD. */
export async function serveKvHttp(options: KvServerHttpOptions): Promise<KvServerHttp> {
  const { store, name, host, port } = options;
  const peer = loadPeer<typeof import('prom-client')>('prom-client', '', 'metrics');
  const register = new peer.Registry();
  createKvPrometheusMetrics(store, { register });
  // Among them the delay of this thread's event loop, which serves the RPCs.
  peer.collectDefaultMetrics({ register });
  const state = createKvProcessState({ [name]: store });
  let isDraining = false;
  const server = createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    // As it came: it need not be a URL.
    switch (request.url?.split('?', 1)[0]) {
      case '/metrics':
        answerMetrics(register, response);
        return;
      case '/healthz':
        answerJson(response, isDraining ? 503 : 200, { status: isDraining ? 'draining' : 'ok' });
        return;
      case '/state':
        answerState(state, response);
        return;
      default:
        response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain() {
      isDraining = true;
    },
    close: () => closeServer(server),
  };
}

function answerState(state: () => RuntimeState, response: ServerResponse): void {
  let body: RuntimeState;
  try {
    body = state();
  } catch (error) {
    response.writeHead(500).end(thrownText(error));
    return;
  }
  answerJson(response, 200, body);
}

function answerJson(
  response: ServerResponse,
  status: number,
  body: RuntimeState | { readonly status: string },
): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  response.writeHead(status, headers).end(JSON.stringify(body));
}

function answerMetrics(register: Registry, response: ServerResponse): void {
  register.metrics().then(
    (text) => response.writeHead(200, { 'content-type': register.contentType }).end(text),
    (error: unknown) => response.writeHead(500).end(thrownText(error)),
  );
}

function closeServer(server: Server): void {
  server.close();
  server.closeAllConnections();
}
