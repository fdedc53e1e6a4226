import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ownProcess } from '../process/owned-process.js';
import type { KvScenario } from './kv-scenario.js';

const entry = fileURLToPath(new URL('../../../dist/adapters/kv-server-main.js', import.meta.url));
const preload = new URL('../process/end-with-parent.js', import.meta.url).href;

/** A key-value server in a process of its own, over loopback. */
export interface RunningKvServer {
  readonly address: string;
  readonly port: number;
  /** Where it serves HTTP. */
  readonly httpUrl: string;
  /** From its start until it served, ms. */
  readonly startMs: number;
  /** Rejects when the process ends before it was told to; never resolves. */
  readonly lost: Promise<never>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it by SIGKILL, at whatever it is doing. Safe at any time, also twice. */
  kill(): Promise<void>;
}

export interface StartKvServer {
  readonly dir: string;
  /** 0: one that is free. */
  readonly port?: number;
  readonly args: readonly string[];
}

export async function startKvServer({
  dir,
  port = 0,
  args,
}: StartKvServer): Promise<RunningKvServer> {
  const startedMs = performance.now();
  const child = spawnServer([
    ...['--dir', dir, '--port', String(port), '--metrics-port', '0'],
    ...args,
  ]);
  const own = ownProcess(child, 'the key-value server');
  const said = new Map<string, string>();
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, what = '', where = ''] = /^(listening|metrics) on (.+)$/.exec(line) ?? [];
      said.set(what, where);
      if (said.has('listening') && said.has('metrics')) resolve();
    });
  });
  try {
    await Promise.race([ready, own.lost]);
  } catch (error) {
    own.kill();
    throw error;
  }
  const address = said.get('listening') ?? '';
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await own.exited;
    own.release();
  };
  return {
    address,
    port: Number(address.split(':').at(-1)),
    httpUrl: new URL('/', said.get('metrics')).href,
    startMs: performance.now() - startedMs,
    lost: own.lost,
    async stop() {
      await end('SIGTERM');
      if (child.exitCode !== 0)
        throw new Error(`the key-value server ended with ${child.exitCode}`);
    },
    kill: () => end('SIGKILL'),
  };
}

function spawnServer(args: readonly string[]): ChildProcess & { readonly stdout: Readable } {
  return spawn(process.execPath, ['--import', preload, entry, ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    // Ctrl-C reaches the whole process group; the parent decides when a server ends.
    detached: true,
  }) as ChildProcess & { readonly stdout: Readable };
}

/** Starts a server and ends it by SIGKILL after `afterMs`, whether it serves by then or not. */
export async function killWhileStarting(
  { dir, args }: StartKvServer,
  afterMs: number,
): Promise<void> {
  const child = spawnServer(['--dir', dir, '--port', '0', ...args]);
  const own = ownProcess(child, 'the key-value server');
  await Promise.race([sleep(afterMs), own.exited]);
  own.kill();
  await own.exited;
  own.release();
}

/** The same for both runs, but for who heeds the engine's stalls. */
export function serverArguments(scenario: KvScenario, ignoreStalls: boolean): string[] {
  const { table, buckets, server } = scenario;
  return [
    ...['--tables', `${table}:${buckets}`],
    ...['--write-buffer-size', String(server.writeBufferBytes)],
    ...['--max-write-buffers', String(server.maxWriteBuffers)],
    ...['--max-background-jobs', String(server.maxBackgroundJobs)],
    ...['--l0-slowdown-trigger', String(server.l0SlowdownTrigger)],
    ...['--max-pending-bytes', String(server.maxPendingBytes)],
    ...(ignoreStalls ? ['--ignore-stalls'] : []),
  ];
}
