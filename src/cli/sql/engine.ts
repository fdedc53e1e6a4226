import { Worker } from 'node:worker_threads';
import { CommandError } from '../usage-error.js';
import type { EngineReport, EngineSeed, EngineTask } from './engine-messages.js';

/** The engine has ended: it broke, or it was killed. */
export class EngineGone extends Error {
  override readonly name = 'EngineGone';
}

interface RunningTask {
  readonly onData: (bytes: Uint8Array) => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** An engine's thread, seen from outside. One task at a time. */
export class Engine {
  readonly #worker: Worker;
  readonly #ready = new Settled<void>();
  readonly #template = new Settled<Blob>();
  #task: RunningTask | undefined;
  #ended: Error | undefined;

  constructor(seed: EngineSeed) {
    this.#worker = new Worker(new URL('./engine-thread.js', import.meta.url), {
      workerData: seed,
      // Postgres prints to them; the terminal is not its own.
      stdout: true,
      stderr: true,
      env: {},
      execArgv: [],
    });
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on('message', (message: EngineReport) => this.#hear(message));
    this.#worker.on('error', (error) => this.#end(new EngineGone(error.message)));
    this.#worker.on('exit', () => this.#end(new EngineGone('the engine has ended')));
  }

  /** Resolves when it takes tasks. @throws CommandError when the package that it needs is not installed. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Only of an engine that was asked for it. */
  get template(): Promise<Blob> {
    return this.#template.promise;
  }

  get gone(): boolean {
    return this.#ended !== undefined;
  }

  /** @throws EngineGone */
  run(task: EngineTask, onData: (bytes: Uint8Array) => void): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.#task !== undefined) throw new Error('the engine is busy');
    return new Promise((resolve, reject) => {
      this.#task = { onData, resolve, reject };
      this.#worker.postMessage(task);
    });
  }

  /** Ends it whatever it does. */
  async kill(reason = 'the engine was stopped'): Promise<void> {
    this.#end(new EngineGone(reason));
    await this.#worker.terminate();
  }

  #hear(message: EngineReport): void {
    const task = this.#task;
    switch (message.kind) {
      case 'template':
        this.#template.resolve(message.template);
        break;
      case 'ready':
        this.#ready.resolve();
        break;
      case 'data':
        task?.onData(message.bytes);
        break;
      case 'done':
        this.#task = undefined;
        task?.resolve();
        break;
      case 'broken':
        this.#end(
          message.reason === 'MISSING'
            ? new CommandError(
                'spillway sql needs the package @electric-sql/pglite: npm install @electric-sql/pglite',
              )
            : new EngineGone(message.reason),
        );
        void this.#worker.terminate();
    }
  }

  #end(error: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#ready.reject(error);
    this.#template.reject(error);
    const task = this.#task;
    this.#task = undefined;
    task?.reject(error);
  }
}

/** A promise that others settle; that nobody waits for it is no fault. */
class Settled<Value> {
  readonly promise: Promise<Value>;
  resolve!: (value: Value) => void;
  reject!: (error: Error) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.promise.catch(() => {});
  }
}
