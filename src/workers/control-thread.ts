/**
 * The owner's side of the control thread: starts it, keeps a copy of what it would need to start again, and starts its
 * successor when it dies, within one turn of the owner's loop. While there is none, limits in force stay in force, and
 * BUSY counts gather in the arena.
 */
import { Worker } from 'node:worker_threads';
import type { UpgradeRecord } from '../actors/throttle/state-machine.js';
import type { Arena } from '../shared/arena.js';
import { HEADER } from '../shared/layout.js';
import type { InForce } from './apply-config.js';
import type { RuntimeHandle } from './handle.js';
import type { Command, ControlStart, Report } from './messages.js';
import type { ControlEvent } from './runtime-events.js';

export interface ControlThreadParts {
  readonly arena: Arena;
  readonly handle: RuntimeHandle;
  readonly cores: number;
  readonly inForce: InForce;
  readonly emit: (event: ControlEvent) => void;
}

/** A control thread that dies young is restarted with this much patience, ms; still within a second. */
const YOUNG_MS = 1000;
const PATIENCE_MS = 250;
/** A thread that does not end by itself after its port is closed is terminated. */
const END_MS = 1000;

export class ControlThread {
  readonly #parts: ControlThreadParts;
  #worker: Worker | undefined;
  #inForce: InForce;
  /** Newest configuration that listeners have been told of. */
  #announced: number;
  #history: readonly UpgradeRecord[] = [];
  #generation = 0;
  #restart: NodeJS.Timeout | undefined;
  #closing = false;
  #wasReady = false;
  #reason = '';
  /** Who waits for this copy of the configuration to be as new as a version. */
  #behind: { readonly version: number; readonly resolve: () => void }[] = [];

  constructor(parts: ControlThreadParts) {
    this.#parts = parts;
    this.#inForce = parts.inForce;
    this.#announced = parts.inForce.version;
  }

  /** Copy of the configuration in force. */
  get inForce(): InForce {
    return this.#inForce;
  }

  /**
   * Resolves once the copy is of `version` or newer, and listeners have been told so: an answer to a change and the
   * reports of it come by different ways.
   */
  async caughtUp(version: number): Promise<void> {
    const worker = this.#worker;
    if (this.#announced >= version || worker === undefined) return;
    worker.ref();
    await new Promise<void>((resolve) => this.#behind.push({ version, resolve }));
    worker.unref();
  }

  /** Resolves when the control thread watches and decides. Rejects when it cannot even start. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = this.#spawn();
      const failed = (): void => reject(new Error('the control thread ended before it was ready'));
      worker.once('error', reject);
      worker.once('exit', failed);
      worker.on('message', (report: Report) => {
        if (report.kind !== 'ready') return;
        worker.off('error', reject);
        worker.off('exit', failed);
        worker.unref();
        resolve();
      });
    });
  }

  /** Ends the control thread for good. */
  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.ref();
    worker.postMessage({ kind: 'close' } satisfies Command);
    const terminate = setTimeout(() => void worker.terminate(), END_MS);
    await ended;
    clearTimeout(terminate);
  }

  #spawn(): Worker {
    const { arena, handle, cores } = this.#parts;
    this.#generation += 1;
    Atomics.store(arena.i32, HEADER.CONTROL_GENERATION >>> 2, this.#generation);
    const start: ControlStart = {
      handle,
      generation: this.#generation,
      cores,
      inForce: this.#inForce,
      history: this.#history,
    };
    const startedAt = performance.now();
    const worker = new Worker(new URL('./control-entry.js', import.meta.url), {
      name: 'spillway-control',
      workerData: start,
      // The user's loaders and inspectors are for the user's code.
      execArgv: [],
    });
    this.#worker = worker;
    worker.on('message', (report: Report) => this.#receive(report));
    // Without a listener the error would end the process; the exit follows.
    worker.on('error', (error) => {
      this.#reason = error instanceof Error ? error.message : String(error);
    });
    worker.on('exit', () => {
      Atomics.store(arena.i32, HEADER.CONTROL_THREAD >>> 2, 0);
      this.#worker = undefined;
      this.#tellCaughtUp(this.#inForce.version);
      for (const waiter of this.#behind.splice(0)) waiter.resolve();
      if (this.#closing || !this.#wasReady) return;
      this.#again(performance.now() - startedAt < YOUNG_MS ? PATIENCE_MS : 0);
    });
    return worker;
  }

  #again(delayMs: number): void {
    this.#restart = setTimeout(() => {
      Atomics.add(this.#parts.arena.i32, HEADER.RESTARTS >>> 2, 1);
      this.#spawn().unref();
    }, delayMs);
    this.#restart.unref();
  }

  #receive(report: Report): void {
    switch (report.kind) {
      case 'ready':
        if (this.#wasReady) this.#tellRestart();
        this.#wasReady = true;
        break;
      case 'config':
        this.#inForce = report.inForce;
        break;
      case 'history':
        this.#history = report.history;
        break;
      case 'event':
        this.#parts.emit(report.event);
        if (report.event.name === 'config') this.#tellCaughtUp(report.event.event.version);
        break;
    }
  }

  #tellCaughtUp(version: number): void {
    this.#announced = Math.max(this.#announced, version);
    const waiting = this.#behind;
    this.#behind = waiting.filter((waiter) => waiter.version > version);
    for (const waiter of waiting) if (waiter.version <= version) waiter.resolve();
  }

  #tellRestart(): void {
    const { i32 } = this.#parts.arena;
    const restarts = Atomics.load(i32, HEADER.RESTARTS >>> 2);
    const level = Atomics.load(i32, HEADER.LEVEL >>> 2);
    const event = { generation: this.#generation, restarts, level, reason: this.#reason };
    this.#reason = '';
    this.#parts.emit({ name: 'control-restart', event });
  }
}
