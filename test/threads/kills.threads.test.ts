import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../dist/index.js';
import { KeyDirectory } from '../../dist/shared/key-directory.js';
import { arenaOf } from './control-threads.js';
import { pause, until } from './until.js';

const OPERATIONS = [
  'tryAcquire',
  'acquire',
  'acquireSync',
  'reserve',
  'call',
  'insert',
  'attach',
] as const;
const KILLS_PER_RUNTIME = 252;
const AT_ONCE = 4;
const BATCHES = 3;
/** A thread that was killed between taking its place and saying its name is given up after 10 s. */
const SWEPT_WITHIN_MS = 15_000;

/** The thread's code in one file: it is loaded hundreds of times. */
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spillway-kills-'));
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL('./doomed-thread.mjs', import.meta.url)),
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: 'doomed-thread.mjs' } },
    },
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

let runtime: Runtime;
afterEach(() => runtime.close({ deadlineMs: 0 }));

/** One thread that is killed at a random moment while it repeats an operation. */
async function kill(operation: string, seed: number): Promise<void> {
  const words = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(join(folder, 'doomed-thread.mjs'), {
    workerData: { operation, handle: runtime.handle(), words, seed },
  });
  const failed = once(worker, 'error').then(([error]) => {
    throw error;
  });
  const started = until(`${operation} has begun`, () => Atomics.load(words, 0) > 0, 20_000);
  await Promise.race([started, failed]);
  await pause(Math.random() * 4);
  await worker.terminate();
  failed.catch(() => undefined);
}

/** Kills `count` threads, some at a time, all operations in turn. */
async function killMany(count: number, first: number): Promise<void> {
  let next = first;
  const executioner = async (): Promise<void> => {
    while (next < first + count) {
      const seed = next++;
      await kill(OPERATIONS[seed % OPERATIONS.length]!, seed * 1_000_000);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, executioner));
}

/** Every live key of the directory, read back from its cell. */
function liveKeys(): string[] {
  const arena = arenaOf(runtime);
  const directory = new KeyDirectory(
    arena.buffer,
    arena.layout.directory,
    arena.layout.capacity.pairs,
  );
  const keys: string[] = [];
  directory.visit((index, _generation, space) => {
    keys.push(`${space} ${directory.describe(directory.cellAt(index)).key}`);
  });
  return keys;
}

async function expectAllIsWell(): Promise<void> {
  await until(
    'places of all that were killed are free',
    () => runtime.snapshot().threads === 1,
    SWEPT_WITHIN_MS,
  );
  const { conservation, controlRestarts, rpcs } = runtime.snapshot();
  expect(conservation).toMatchObject({ ok: true, held: 0 });
  expect(controlRestarts).toBe(0);
  for (const { rpc, granted, returned, burst, qpsLimit } of rpcs) {
    const elapsedS = runtime.snapshot().atMs / 1000;
    // Reservations may be a queue ahead of the time.
    if (rpc === 'slow') expect(granted - returned).toBeLessThan(burst + qpsLimit * (elapsedS + 1));
  }
  const keys = liveKeys();
  expect(new Set(keys).size, 'each key has one cell').toBe(keys.length);
  expect(keys.filter((key) => !/^\d+ (\d|key \d+|(long )+.*)$/.test(key))).toEqual([]);

  const { gate } = runtime;
  for (const rpc of ['slow', 'fast', 'coarse']) await gate.acquire(rpc, { maxWaitMs: 10_000 });
  const table = `key ${Math.floor(Math.random() * 1e9)}`;
  expect(await gate.call({ rpc: 'fast', table }, () => 'through')).toBe('through');
  expect(gate.limiter('slow').waiting).toBe(0);
}

describe('threads that are terminated inside any operation', () => {
  it.each(['one runtime', 'another runtime'])(
    `wedge nothing, and lose nothing but their own (${KILLS_PER_RUNTIME} kills, %s)`,
    async () => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown): void => void unhandled.push(reason);
      process.on('unhandledRejection', note);
      runtime = await createRuntime({
        host: {
          rpcs: {
            slow: { qpsPerCore: 250, burst: 20 },
            fast: { qpsPerCore: 1_000_000, burst: 100_000 },
            coarse: { qpsPerCore: 1_000_000, burst: 100_000, clock: 'coarse' },
          },
        },
        tables: { enabled: true, rpcs: ['slow', 'fast'], upgradeIntervalMs: 20, floorQps: 50 },
        capacity: { threads: 64, pairs: 32_768 },
      });
      // The owner has a place of its own.
      expect(runtime.gate.tryAcquire('fast')).toBe(true);
      try {
        const batch = KILLS_PER_RUNTIME / BATCHES;
        for (let i = 0; i < BATCHES; i++) {
          await killMany(batch, i * batch);
          await expectAllIsWell();
        }
        const { throttle, directory } = runtime.snapshot();
        expect(throttle.busy).toBeGreaterThan(0);
        expect(directory.used).toBeGreaterThan(100);
        expect(unhandled).toEqual([]);
      } finally {
        process.off('unhandledRejection', note);
      }
    },
  );
});
