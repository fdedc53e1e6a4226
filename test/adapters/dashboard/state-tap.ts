/**
 * Stands between a browser and an admin server: knows each state that the browser was given, and can be cut, held or kept
 * from streaming.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RuntimeState } from '../../../dist/workers/state/runtime-state.js';
import { SseParser } from '../../../src/adapters/admin/dashboard/page/model/sse-parser.js';

export class StateTap {
  /** Where requests go. */
  upstream: string;
  /** `cut`: every connection is refused; `hold`: open ones stay and tell nothing; `no-stream`: `/events` is refused. */
  mode: 'pass' | 'cut' | 'hold' | 'no-stream' = 'pass';
  /** Headers of each request for `/events`. */
  readonly streams: IncomingHttpHeaders[] = [];
  readonly #states = new Map<number, RuntimeState>();
  readonly #server = createServer((incoming, answer) => this.#answer(incoming, answer));
  readonly #sockets = new Set<Duplex>();

  constructor(upstream: string) {
    this.upstream = upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async listen(): Promise<this> {
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      if (this.mode === 'cut') socket.destroy();
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  cut(): void {
    this.mode = 'cut';
    for (const socket of this.#sockets) socket.destroy();
  }

  /** What the browser was given for this time. @throws Error: nothing. */
  stateAt(atMs: number): RuntimeState {
    const state = this.#states.get(atMs);
    if (state === undefined) throw new Error(`no state of ${atMs} ms was given`);
    return state;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #answer(incoming: IncomingMessage, answer: ServerResponse): void {
    const { url = '/', method, headers } = incoming;
    if (url === '/events') this.streams.push(headers);
    if (url === '/events' && this.mode === 'no-stream') {
      answer.writeHead(503).end();
      return;
    }
    const target = new URL(this.upstream);
    const forward = request(
      {
        host: target.hostname,
        port: target.port,
        path: url,
        method,
        headers: { ...headers, host: target.host },
      },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        const parser = new SseParser();
        let body = '';
        reply.setEncoding('utf8');
        reply.on('data', (text: string) => {
          if (this.mode === 'hold') return;
          if (url === '/events')
            for (const { event, data } of parser.push(text)) this.#note(event, data);
          else body += text;
          answer.write(text);
        });
        reply.on('end', () => {
          if (url === '/state' && reply.statusCode === 200) this.#note('state', body);
          answer.end();
        });
        reply.on('error', () => answer.destroy());
      },
    );
    forward.on('error', () => answer.destroy());
    answer.on('close', () => forward.destroy());
    forward.end();
  }

  #note(event: string, data: string): void {
    if (event !== 'state') return;
    const state = JSON.parse(data) as RuntimeState;
    this.#states.set(state.atMs, state);
  }
}
