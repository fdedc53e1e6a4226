import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { RuntimeHandle } from 'spillway';
import type { DriveLoadResult, DriveLoadTask } from '../client/drive-load.js';
import { rpcNames, type Scenario } from '../scenario.js';
import { startService } from '../service/start-service.js';
import { CountBoard } from './count-board.js';
import type { GroupCounts, RunRecord, Sample } from './run-record.js';
import { StartSignal } from './start-signal.js';

export interface RunLoadOptions {
  readonly scenario: Scenario;
  /** The runtime that the threads attach to; without one, attempts go at once. */
  readonly handle: RuntimeHandle | undefined;
  readonly signal: AbortSignal;
  /** All threads are ready; the load begins `leadMs` from now. */
  readonly onStart?: (leadMs: number) => void;
  /** Called every 100 ms while the load runs. */
  readonly onSample: (sample: Sample) => void;
}

/** How far the main thread looks into the counts; the charts are no finer. */
const sampleMs = 100;
/** The load begins a little in the future, so that no thread learns of it too late. */
const startLeadMs = 50;
/** Work that the service lets wait, so that the chance bursts of a calm load are not refused. */
const serviceBacklogMs = 150;

/** Runs the load once, against a service and on threads of its own. */
export async function runLoad(options: RunLoadOptions): Promise<RunRecord> {
  const { scenario, signal } = options;
  signal.throwIfAborted();
  const board = CountBoard.create(scenario.tableIds.length, rpcNames.length);
  const start = new StartSignal();
  const service = await startService({
    unitsPerSecond: scenario.capacityPerSecond,
    refusalUnits: 0.2,
    backlogMs: serviceBacklogMs,
  });
  const pool = new Piscina({
    filename: fileURLToPath(new URL('../client/drive-load.js', import.meta.url)),
    minThreads: scenario.threads,
    maxThreads: scenario.threads,
  });
  const samples: Sample[] = [];
  try {
    const drivers = Promise.all(
      Array.from({ length: scenario.threads }, (_, threadIndex) =>
        pool.run(
          {
            scenario,
            threadIndex,
            address: service.address,
            counts: board.buffer,
            start: start.buffer,
            handle: options.handle,
          } satisfies DriveLoadTask,
          { name: 'driveLoad', signal },
        ),
      ),
    ) as Promise<DriveLoadResult[]>;
    const done = Promise.race([drivers, service.lost]);
    let running = true;
    const settled = done.then(
      () => {
        running = false;
      },
      () => {
        running = false;
      },
    );
    while (running && start.readyCount < scenario.threads) await Promise.race([sleep(5), settled]);
    const startNs = process.hrtime.bigint() + BigInt(startLeadMs * 1e6);
    start.start(startNs);
    options.onStart?.(startLeadMs);
    while (running) {
      await Promise.race([sleep(sampleMs, undefined, { ref: false }), settled]);
      const atMs = Number(process.hrtime.bigint() - startNs) / 1e6;
      if (atMs < 0) continue;
      const sample = takeSample(board, scenario, atMs);
      samples.push(sample);
      options.onSample(sample);
    }
    const results = await done;
    const account = await service.stop();
    const { hotTables, tableIds, durationMs } = scenario;
    return {
      durationMs,
      sent: board.ofTables('sent', 0, tableIds.length),
      busy: board.ofTables('busy', 0, tableIds.length),
      unanswered: board.ofTables('unanswered', 0, tableIds.length),
      hot: groupCounts(board, 0, hotTables),
      cold: groupCounts(board, hotTables, tableIds.length),
      coldLatenciesMs: results.flatMap((result) => result.coldLatenciesMs),
      hotLatenciesMs: results.flatMap((result) => result.hotLatenciesMs),
      samples,
      service: account,
    };
  } finally {
    await pool.destroy();
    service.kill();
  }
}

function takeSample(board: CountBoard, scenario: Scenario, atMs: number): Sample {
  const { hotTables, tableIds } = scenario;
  const hot = Array.from({ length: hotTables }, (_, tableIndex) => tableIndex);
  return {
    atMs,
    busy: board.ofTables('busy', 0, tableIds.length),
    ok: board.ofTables('ok', 0, tableIds.length),
    hotSent: hot.map((tableIndex) => board.ofTable('sent', tableIndex)),
    hotArrived: hot.map((tableIndex) => board.ofTable('arrived', tableIndex)),
    coldSent: board.ofTables('sent', hotTables, tableIds.length),
  };
}

function groupCounts(board: CountBoard, fromTable: number, toTable: number): GroupCounts {
  return {
    arrived: board.ofTables('arrived', fromTable, toTable),
    ok: board.ofTables('ok', fromTable, toTable),
    failed: board.ofTables('failed', fromTable, toTable),
    heldBack: board.ofTables('heldBack', fromTable, toTable),
    shed: board.ofTables('shed', fromTable, toTable),
  };
}
