import { ForkedProcess } from '../process/forked-process.js';
import type { PeerCommand, PeerEvent } from './peer-protocol.js';

export interface PeerBooks {
  readonly served: number;
  readonly failed: number;
}

/** A server in a process of its own, over loopback. */
export interface RunningPeer {
  readonly port: number;
  readonly address: string;
  /** Rejects when the process ends before it was told to; never resolves. */
  readonly lost: Promise<never>;
  /** Stops the process as it is: its kernel still takes connections, nobody answers. */
  freeze(): void;
  thaw(): void;
  misbehave(errors: boolean): Promise<void>;
  stop(): Promise<PeerBooks>;
  /** Ends the process at once; safe at any time, also twice. */
  kill(): void;
}

export async function startPeer(delayMs: number, backlog: number): Promise<RunningPeer> {
  const peer = new ForkedProcess<PeerCommand, PeerEvent>(
    new URL('./peer-server.js', import.meta.url),
    'a peer',
  );
  const { port } = await peer.ask({ kind: 'start', delayMs, backlog }, 'listening');
  return {
    port,
    address: `127.0.0.1:${port}`,
    lost: peer.lost,
    freeze: () => peer.signal('SIGSTOP'),
    thaw: () => peer.signal('SIGCONT'),
    async misbehave(errors) {
      await peer.ask({ kind: 'misbehave', errors }, 'misbehaving');
    },
    async stop() {
      const { served, failed } = await peer.askLast({ kind: 'stop' }, 'stopped');
      return { served, failed };
    },
    kill: () => peer.kill(),
  };
}
