import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { KvScenario } from './kv-scenario.js';
import { type ReadBack, readBack } from './read-back.js';
import { type RunningKvServer, serverArguments, startKvServer } from './start-kv-server.js';
import {
  readServerFigures,
  type ServerFigures,
  type ServerSample,
  sampleServer,
} from './watch-server.js';
import { WriteBoard } from './write-board.js';
import type { WriteResult, WriteTask } from './write-thread.js';

export interface KvSample extends ServerSample {
  /** Records acknowledged so far. */
  readonly hot: number;
  readonly calm: number;
}

export interface KvRun {
  readonly samples: readonly KvSample[];
  readonly server: ServerFigures;
  readonly threads: readonly WriteResult[];
  readonly readBack: ReadBack;
}

export interface KvRunInput {
  readonly scenario: KvScenario;
  readonly withSpillway: boolean;
  /** Stores to begin with; copied. */
  readonly filledDir: string;
  readonly signal: AbortSignal;
  readonly onSample: (sample: KvSample) => void;
}

const sampleMs = 100;
/** The load begins a little in the future, so that no thread learns of it too late. */
const startLeadMs = 50;

/** The load once, against a server of its own; then a new server is asked for all that was acknowledged. */
export async function runKv(input: KvRunInput): Promise<KvRun> {
  const { scenario, withSpillway, filledDir } = input;
  const dir = mkdtempSync(join(tmpdir(), 'spillway-demo-kv-'));
  const remove = () => rmSync(dir, { recursive: true, force: true });
  process.once('exit', remove);
  let server: RunningKvServer | undefined;
  try {
    cpSync(filledDir, dir, { recursive: true });
    const args = serverArguments(scenario, !withSpillway);
    server = await startKvServer({ dir, args });
    const written = await writeThrough(input, server);
    await server.stop();
    // The same stores without a load: what is read is what a start finds.
    server = await startKvServer({ dir, args });
    const pages = written.threads.map(({ pages: own }) => own);
    const found = await Promise.race([readBack(server.address, scenario, pages), server.lost]);
    await server.stop();
    return { ...written, readBack: found };
  } finally {
    await server?.kill();
    remove();
    process.off('exit', remove);
  }
}

async function writeThrough(
  { scenario, withSpillway, signal, onSample }: KvRunInput,
  server: RunningKvServer,
): Promise<Omit<KvRun, 'readBack'>> {
  const board = new WriteBoard();
  const threads = Array.from({ length: scenario.threads }, (_, threadIndex) =>
    startThread({
      scenario,
      threadIndex,
      address: server.address,
      ignorePressure: !withSpillway,
      board: board.buffer,
    }),
  );
  const failed = Promise.race([server.lost, aborted(signal), ...threads.map(({ lost }) => lost)]);
  failed.catch(() => undefined);
  const samples: KvSample[] = [];
  try {
    while (board.ready < threads.length) await Promise.race([sleep(5), failed]);
    // Forgets how the event loop fared while the server started.
    await readServerFigures(server.httpUrl, scenario);
    const startNs = process.hrtime.bigint() + BigInt(startLeadMs * 1e6);
    board.start(startNs);
    const nowMs = () => Number(process.hrtime.bigint() - startNs) / 1e6;
    while (nowMs() < scenario.durationMs) {
      await Promise.race([sleep(sampleMs), failed]);
      const state = await Promise.race([sampleServer(server.httpUrl, scenario), failed]);
      const counts = { hot: board.acknowledged('hot'), calm: board.acknowledged('calm') };
      const sample = { atMs: Math.max(0, nowMs()), ...state, ...counts };
      samples.push(sample);
      onSample(sample);
    }
    const { loopP99Ms } = await readServerFigures(server.httpUrl, scenario);
    const results = await Promise.race([Promise.all(threads.map(({ result }) => result)), failed]);
    // Stalls and refusals of what was still on its way when the load ended count, too.
    const figures = { ...(await readServerFigures(server.httpUrl, scenario)), loopP99Ms };
    return { samples, server: figures, threads: results };
  } finally {
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

function startThread(task: WriteTask): {
  readonly worker: Worker;
  readonly result: Promise<WriteResult>;
  readonly lost: Promise<never>;
} {
  const worker = new Worker(new URL('./write-thread.js', import.meta.url), { workerData: task });
  const result = new Promise<WriteResult>((resolve) => worker.once('message', resolve));
  const lost = new Promise<never>((_, reject) => worker.once('error', reject));
  lost.catch(() => undefined);
  return { worker, result, lost };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
