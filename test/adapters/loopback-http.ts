/** A server of HTTP on loopback that answers as the test says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface HttpService {
  readonly origin: string;
  /** Method and path of every request, oldest first. */
  readonly seen: string[];
  /** Connections that were made to it so far. */
  connections(): number;
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Of upgrades and CONNECT. */
  tunnel: (request: IncomingMessage, socket: Duplex) => void;
  stop(): Promise<void>;
}

export async function startHttpService(): Promise<HttpService> {
  const seen: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    service.answer(request, response);
  });
  server.keepAliveTimeout = 60_000;
  const tunnel = (request: IncomingMessage, socket: Duplex): void => {
    seen.push(`${request.method} ${request.url}`);
    service.tunnel(request, socket);
  };
  const tunnels = new Set<Duplex>();
  server.on('connection', (socket) => {
    connections += 1;
    tunnels.add(socket);
    socket.on('close', () => tunnels.delete(socket));
  });
  server.on('upgrade', tunnel);
  server.on('connect', tunnel);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service: HttpService = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    connections: () => connections,
    answer: (_request, response) => void response.end('ok'),
    tunnel: (_request, socket) => void socket.destroy(),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of tunnels) socket.destroy();
      await closed;
    },
  };
  return service;
}

/** A port where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
