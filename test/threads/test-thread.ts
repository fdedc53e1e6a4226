import { type Transferable, Worker, type WorkerOptions } from 'node:worker_threads';
import type { RuntimeHandle } from '../../dist/index.js';

type Spillway = typeof import('../../dist/index.js');

/** What a function that runs in a test thread is given. */
export interface ThreadSide<Data> {
  readonly spillway: Spillway;
  readonly handle: RuntimeHandle;
  readonly data: Data;
  /** Imports a module by its URL; an `import()` in the function itself would be the test runner's. */
  load(url: string): Promise<unknown>;
  /** Heard by `TestThread.heard`. */
  say(value: unknown): void;
  /** The next value of `TestThread.tell`. */
  told(): Promise<unknown>;
}

export interface TestThread<Result> {
  readonly worker: Worker;
  /** What the function returned. Rejects when the thread throws, or ends without. */
  readonly done: Promise<Result>;
  /** Resolves with the exit code, in whatever way the thread ends. */
  readonly ended: Promise<number>;
  /** The next value that the thread says. Rejects when it ends first. */
  heard(): Promise<unknown>;
  tell(value: unknown, transfer?: readonly Transferable[]): void;
}

/**
 * Runs `body` in a thread of its own. It travels as text: it sees nothing of the file that it stands in but its argument,
 * and the globals of Node.
 */
export function startThread<Result, Data = undefined>(
  handle: RuntimeHandle | undefined,
  body: (thread: ThreadSide<Data>) => Promise<Result> | Result,
  data?: Data,
  options: WorkerOptions = {},
): TestThread<Result> {
  const entry = new URL('../../dist/index.js', import.meta.url).href;
  const worker = new Worker(new URL('./thread-entry.mjs', import.meta.url), {
    ...options,
    workerData: { body: String(body), data, handle, entry },
  });
  const heard: unknown[] = [];
  const waiting: { resolve: (value: unknown) => void; reject: (reason: unknown) => void }[] = [];
  let failure: unknown;
  const done = new Promise<Result>((resolve, reject) => {
    worker.on('message', (message: { said: unknown } | { done: Result }) => {
      if ('done' in message) resolve(message.done);
      else if (waiting.length > 0) waiting.shift()?.resolve(message.said);
      else heard.push(message.said);
    });
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', (code) => {
      const reason = failure ?? new Error(`the thread has ended with code ${code}`);
      reject(reason);
      for (const waiter of waiting) waiter.reject(reason);
    });
  });
  // Not every test asks.
  done.catch(() => undefined);
  const ended = new Promise<number>((resolve) => worker.on('exit', resolve));
  return {
    worker,
    done,
    ended,
    heard: async () =>
      heard.length > 0
        ? heard.shift()
        : new Promise((resolve, reject) => waiting.push({ resolve, reject })),
    tell: (value, transfer = []) => worker.postMessage(value, transfer),
  };
}
