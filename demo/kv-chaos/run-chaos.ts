import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killWhileStarting, type RunningKvServer, startKvServer } from '../kv/start-kv-server.js';
import { createRandom } from '../load/random.js';
import { batchesTable, bucketCount, ChaosLoad, rowsTable } from './chaos-load.js';
import type { ChaosOptions } from './chaos-options.js';
import { type CheckResult, checkServer } from './check-server.js';

export interface ChaosRun {
  readonly kills: number;
  /** Kills of a server that had not yet served. */
  readonly killsAtStart: number;
  /** Puts of the writer that were acknowledged, and batches that were sent. */
  readonly acknowledged: number;
  readonly batches: number;
  /** Over all checks. */
  readonly records: number;
  readonly lost: number;
  readonly reordered: number;
  readonly torn: number;
  readonly unknown: number;
  /** From the start of each server after a kill until it served, ms. */
  readonly restartsMs: readonly number[];
  /** What the writer gave up. */
  readonly failures: readonly string[];
}

/** Small memtables, so that flushes and compactions are under way when it dies. */
const serverArgs = [
  ...['--tables', `${rowsTable}:${bucketCount},${batchesTable}:${bucketCount}`],
  ...['--write-buffer-size', '65536'],
  ...['--max-background-jobs', '2'],
  ...['--log-checkpoint-bytes', '4000000'],
];
const loadMs = { least: 50, most: 700 };

/** Kills a server again and again under load, and looks after each time what it has. */
export async function runChaos(
  { kills, seed }: ChaosOptions,
  signal: AbortSignal,
  onKill: (kill: number, restartMs: number, check: CheckResult) => void,
): Promise<ChaosRun> {
  const random = createRandom(seed);
  const dir = mkdtempSync(join(tmpdir(), 'spillway-chaos-kv-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  process.once('exit', remove);
  let server: RunningKvServer | undefined;
  let load: ChaosLoad | undefined;
  const checks: CheckResult[] = [];
  const restartsMs: number[] = [];
  let killsAtStart = 0;
  try {
    server = await startKvServer({ dir, args: serverArgs });
    const { port, address } = server;
    load = await ChaosLoad.create(address, seed, createRandom(~seed));
    load.start();
    for (let kill = 1; kill <= kills; kill += 1) {
      load.turn(true);
      const killAfterMs = loadMs.least + random() * (loadMs.most - loadMs.least);
      await Promise.race([sleep(killAfterMs, undefined, { signal }), server.lost]);
      await server.kill();
      load.turn(false);
      if (random() < 0.25) {
        await killWhileStarting({ dir, args: serverArgs }, random() * 400);
        killsAtStart += 1;
      }
      // On another port: the writer, which goes on trying, must not find it before it has been looked at.
      server = await startKvServer({ dir, args: serverArgs });
      restartsMs.push(server.startMs);
      const check = await Promise.race([checkServer(server.address, load), server.lost]);
      checks.push(check);
      onKill(kill, server.startMs, check);
      await server.kill();
      server = await startKvServer({ dir, port, args: serverArgs });
    }
    await Promise.race([load.settle(), server.lost]);
    checks.push(await checkServer(server.address, load));
    await server.stop();
    server = await startKvServer({ dir, args: serverArgs });
    checks.push(await checkServer(server.address, load));
    await server.stop();
    const sum = (read: (check: CheckResult) => number): number =>
      checks.reduce((total, check) => total + read(check), 0);
    return {
      kills,
      killsAtStart,
      acknowledged: load.acknowledged,
      batches: load.batches.reduce((total, { sent }) => total + sent, 0),
      records: sum(({ records }) => records),
      lost: sum(({ lost }) => lost),
      reordered: sum(({ reordered }) => reordered),
      torn: sum(({ torn }) => torn),
      unknown: sum(({ unknown }) => unknown),
      restartsMs,
      failures: load.failures,
    };
  } finally {
    await load?.close();
    await server?.kill();
    remove();
    process.off('exit', remove);
  }
}
