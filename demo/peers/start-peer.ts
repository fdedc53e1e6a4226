import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
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
  const child = fork(fileURLToPath(new URL('./peer-server.js', import.meta.url)), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
  });
  // Also ends one that is frozen.
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lost = Promise.race([
    exited,
    new Promise<never>((_, reject) => child.once('error', reject)),
  ]).then((): never => {
    throw new Error(`a peer ended early (exit code ${child.exitCode})`);
  });
  lost.catch(() => undefined);

  try {
    const listening = next(child, 'listening');
    send(child, { kind: 'start', delayMs, backlog });
    const { port } = await Promise.race([listening, lost]);
    return {
      port,
      address: `127.0.0.1:${port}`,
      lost,
      freeze: () => void child.kill('SIGSTOP'),
      thaw: () => void child.kill('SIGCONT'),
      async misbehave(errors) {
        const done = next(child, 'misbehaving');
        send(child, { kind: 'misbehave', errors });
        await Promise.race([done, lost]);
      },
      async stop() {
        const stopped = next(child, 'stopped');
        send(child, { kind: 'stop' });
        const { served, failed } = await Promise.race([stopped, lost]);
        await exited;
        process.off('exit', kill);
        return { served, failed };
      },
      kill,
    };
  } catch (error) {
    kill();
    throw error;
  }
}

function send(child: ChildProcess, command: PeerCommand): void {
  child.send(command);
}

function next<K extends PeerEvent['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<PeerEvent, { kind: K }>> {
  return new Promise((resolve) => {
    const listen = (event: PeerEvent) => {
      if (event.kind !== kind) return;
      child.off('message', listen);
      resolve(event as Extract<PeerEvent, { kind: K }>);
    };
    child.on('message', listen);
  });
}
