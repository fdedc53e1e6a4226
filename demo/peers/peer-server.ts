// Entry of a peer's own process. It obeys its parent's messages and ends with it.
import { createServer, type Server, type Socket } from 'node:net';
import type { Answer, PeerCommand, PeerEvent } from './peer-protocol.js';
import { blockOf } from './peers-scenario.js';

class Peer {
  readonly #delayMs: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  errors = false;
  served = 0;
  failed = 0;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  listen(backlog: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host: '127.0.0.1', port: 0, backlog }, () => {
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let asked = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      asked += text;
      const [, key] = /^get (\d+)\n/.exec(asked) ?? [];
      if (key === undefined) return;
      asked = '';
      setTimeout(() => {
        if (!socket.destroyed) socket.end(`${JSON.stringify(this.#answer(Number(key)))}\n`);
      }, this.#delayMs);
    });
    // Who goes away in between has no use for the answer.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #answer(key: number): Answer {
    if (this.errors) {
      this.failed += 1;
      return { status: 'internal_error' };
    }
    this.served += 1;
    return { status: 'ok', block: blockOf(key) };
  }
}

function tell(event: PeerEvent): void {
  process.send?.(event);
}

let peer: Peer | undefined;

async function obey(command: PeerCommand): Promise<void> {
  if (command.kind === 'start') {
    peer = new Peer(command.delayMs);
    tell({ kind: 'listening', port: await peer.listen(command.backlog) });
  } else if (peer !== undefined && command.kind === 'misbehave') {
    peer.errors = command.errors;
    tell({ kind: 'misbehaving', errors: command.errors });
  } else if (peer !== undefined) {
    await peer.close();
    tell({ kind: 'stopped', served: peer.served, failed: peer.failed });
    process.disconnect();
  }
}

process.on('message', (command: PeerCommand) => {
  obey(command).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
// Ctrl-C reaches the whole process group; the parent decides when a peer ends.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));
