import type { Worker } from 'node:worker_threads';
import type { Runtime } from '../../dist/index.js';
import { openArena } from '../../dist/shared/arena.js';
import { HEADER } from '../../dist/shared/layout.js';

/** Sees every worker that this process starts from now on, a runtime's control threads among them. */
export class ControlThreads {
  readonly #workers = new Map<number, Worker>();
  readonly #others = new Set<Worker>();
  readonly #see = (worker: Worker): void => {
    this.#workers.set(worker.threadId, worker);
  };

  constructor() {
    process.on('worker', this.#see);
  }

  /** The control thread that is at work now, if there is one. */
  of(runtime: Runtime): Worker | undefined {
    return this.#workers.get(controlThreadId(runtime));
  }

  /** The control thread that was started last, ready or not; its thread id is -1 once it has ended. */
  newest(): Worker | undefined {
    return [...this.#workers.values()].filter((worker) => !this.#others.has(worker)).at(-1);
  }

  /** This one is no control thread. */
  ignore(worker: Worker): void {
    this.#others.add(worker);
  }

  /** Terminates the control thread of `runtime`; resolves when it is gone. */
  async kill(runtime: Runtime): Promise<void> {
    const worker = this.of(runtime);
    if (worker === undefined) throw new Error('there is no control thread to kill');
    await worker.terminate();
  }

  stop(): void {
    process.off('worker', this.#see);
  }
}

/** Thread id of the control thread, 0 while there is none. */
export function controlThreadId(runtime: Runtime): number {
  return Atomics.load(arenaOf(runtime).i32, HEADER.CONTROL_THREAD >>> 2);
}

/** The runtime's shared memory, for a look behind the scenes. */
export function arenaOf(runtime: Runtime): ReturnType<typeof openArena> {
  return openArena(runtime.handle().arena);
}
