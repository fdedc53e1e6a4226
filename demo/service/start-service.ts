import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CapacityParams } from './capacity-meter.js';
import type { ServiceAccount, ServiceCommand, ServiceEvent } from './protocol.js';

/** The metadata service in a process of its own, with its store in a temp dir. */
export interface RunningService {
  readonly address: string;
  /** Rejects when the process ends before it was told to; never resolves. */
  readonly lost: Promise<never>;
  /** Ends the process, removes the store, gives the service's books. */
  stop(): Promise<ServiceAccount>;
  /** Ends the process at once and removes the store; safe at any time, also twice. */
  kill(): void;
}

export async function startService(capacity: CapacityParams): Promise<RunningService> {
  const storeDir = mkdtempSync(join(tmpdir(), 'spillway-demo-'));
  const child = fork(fileURLToPath(new URL('./service-process.js', import.meta.url)), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
  });
  const removeStore = () => rmSync(storeDir, { recursive: true, force: true });
  const kill = () => {
    child.kill('SIGKILL');
    removeStore();
  };
  process.once('exit', kill);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lost = Promise.race([
    exited,
    new Promise<never>((_, reject) => child.once('error', reject)),
  ]).then((): never => {
    throw new Error(`the metadata service ended early (exit code ${child.exitCode})`);
  });
  lost.catch(() => undefined);

  try {
    const listening = next(child, 'listening');
    send(child, { kind: 'start', storeDir, capacity });
    const { port } = await Promise.race([listening, lost]);
    return {
      address: `127.0.0.1:${port}`,
      lost,
      async stop() {
        const stopped = next(child, 'stopped');
        send(child, { kind: 'stop' });
        const { account } = await Promise.race([stopped, lost]);
        await exited;
        process.off('exit', kill);
        removeStore();
        return account;
      },
      kill,
    };
  } catch (error) {
    kill();
    throw error;
  }
}

function send(child: ChildProcess, command: ServiceCommand): void {
  child.send(command);
}

function next<K extends ServiceEvent['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<ServiceEvent, { kind: K }>> {
  return new Promise((resolve) => {
    const listen = (event: ServiceEvent) => {
      if (event.kind !== kind) return;
      child.off('message', listen);
      resolve(event as Extract<ServiceEvent, { kind: K }>);
    };
    child.on('message', listen);
  });
}
