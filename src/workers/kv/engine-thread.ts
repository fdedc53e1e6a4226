import { Worker } from 'node:worker_threads';
import type {
  EngineBatch,
  EnginePort,
  EngineSample,
  EngineWriteOutcome,
  KeyRange,
} from '../../actors/kv/engine-port.js';
import type { KvRow } from '../../actors/kv/kv-record.js';
import { WorkerLostError } from '../../shared/errors.js';
import type { LevelZeroTriggers } from '../../shared/pressure/level-zero-triggers.js';
import { decodeError } from '../error-codec.js';
import type {
  EngineAnswers,
  EngineCall,
  EngineFactory,
  EngineOpened,
  EngineReply,
  EngineRequest,
} from './engine-messages.js';
import { decodeRecords, encodeRecords } from './record-codec.js';

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

const NOTHING = new Uint8Array(0);

/** One thread and the engines that live on it. Its death fails their calls, those under way included. */
export class EngineThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #engines = 0;
  #lost: Error | undefined;

  constructor(factory: EngineFactory) {
    this.#worker = new Worker(new URL('./engine-entry.js', import.meta.url), {
      workerData: factory,
      name: 'spillway-engine',
      // Flags of the process, such as --input-type, are not for this entry.
      execArgv: [],
    });
    this.#worker.on('message', (reply: EngineReply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.#lose('failed', error));
    this.#worker.on('exit', (code) => this.#lose(`ended with ${code}`, undefined));
  }

  /** Engines that were opened here so far. */
  get engines(): number {
    return this.#engines;
  }

  /** An engine as its factory makes it from `options`, which must be clonable. */
  async open(
    options: unknown,
  ): Promise<{ readonly engine: EnginePort; readonly sample: EngineSample }> {
    this.#engines += 1;
    const number = this.#engines;
    const opened = await this.call(number, { kind: 'open', options });
    return { engine: new RemoteEngine(this, number, opened), sample: opened.sample };
  }

  call<Kind extends EngineRequest['kind']>(
    engine: number,
    request: Extract<EngineRequest, { kind: Kind }>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<EngineAnswers[Kind]> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, engine, request } satisfies EngineCall, transfer);
    });
  }

  /** Ends the thread; engines that are still open are not closed. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(reply: EngineReply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.ok) pending?.resolve(reply.value as never);
    else pending?.reject(decodeError(reply.error));
  }

  #lose(how: string, cause: unknown): void {
    this.#lost ??= new WorkerLostError(`an engine thread ${how}`, { cause });
    for (const { reject } of this.#pending.values()) reject(this.#lost);
    this.#pending.clear();
  }
}

class RemoteEngine implements EnginePort {
  readonly triggers: LevelZeroTriggers;
  readonly flushedUpTo: number;
  readonly #thread: EngineThread;
  readonly #number: number;

  constructor(thread: EngineThread, number: number, { triggers, flushedUpTo }: EngineOpened) {
    this.#thread = thread;
    this.#number = number;
    this.triggers = triggers;
    this.flushedUpTo = flushedUpTo;
  }

  sample(): Promise<EngineSample> {
    return this.#thread.call(this.#number, { kind: 'sample' });
  }

  stalledMs(): Promise<number> {
    return this.#thread.call(this.#number, { kind: 'stalledMs' });
  }

  write({ records, flushedUpTo }: EngineBatch): Promise<EngineWriteOutcome> {
    const bytes = encodeRecords(records);
    return this.#thread.call(this.#number, { kind: 'write', bytes, flushedUpTo }, [bytes.buffer]);
  }

  async get(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | null)[]> {
    const bytes = encodeRecords(keys.map((key) => ({ key, value: null })));
    const answer = await this.#thread.call(this.#number, { kind: 'get', bytes }, [bytes.buffer]);
    return decodeRecords(answer).map(({ value }) => value);
  }

  async iterate({ start, end, limit }: KeyRange): Promise<readonly KvRow[]> {
    const request = { kind: 'iterate', start: start.slice(), end: end?.slice(), limit } as const;
    const answer = await this.#thread.call(this.#number, request);
    return decodeRecords(answer).map(({ key, value }) => ({ key, value: value ?? NOTHING }));
  }

  checkpoint(): Promise<void> {
    return this.#thread.call(this.#number, { kind: 'checkpoint' });
  }

  close(): Promise<void> {
    return this.#thread.call(this.#number, { kind: 'close' });
  }
}
