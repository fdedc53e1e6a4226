import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ForkedProcess } from '../process/forked-process.js';
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
  const service = new ForkedProcess<ServiceCommand, ServiceEvent>(
    new URL('./service-process.js', import.meta.url),
    'the metadata service',
    () => rmSync(storeDir, { recursive: true, force: true }),
  );
  const { port } = await service.ask({ kind: 'start', storeDir, capacity }, 'listening');
  return {
    address: `127.0.0.1:${port}`,
    lost: service.lost,
    stop: async () => (await service.askLast({ kind: 'stop' }, 'stopped')).account,
    kill: () => service.kill(),
  };
}
