import type {
  EngineBatch,
  EnginePort,
  EngineSample,
  EngineWriteOutcome,
  KeyRange,
} from '../actors/kv/engine-port.js';
import { type KvRow, keyOfText, textOfKey } from '../actors/kv/kv-record.js';
import type { LevelZeroTriggers } from '../shared/pressure/level-zero-triggers.js';
import type { VirtualTime } from './virtual-time.js';

export interface FakeEngineOptions {
  readonly time: VirtualTime;
  /** How long each call takes, ms. A write is applied at half of it. Default 2. */
  readonly callMs?: number;
  readonly triggers?: Partial<LevelZeroTriggers>;
}

const TRIGGERS: LevelZeroTriggers = {
  l0SlowdownWritesTrigger: 20,
  l0StopWritesTrigger: 36,
  maxWriteBufferNumber: 8,
  writeBufferSize: 1024 * 1024,
};

/**
 * A store for tests, whose answers come by virtual time. The test sets how it stands, breaks it, and lets its process die:
 * what was applied stays, what was on its way is lost, and old ports never answer again.
 */
export class FakeEngine {
  /** What `sample()` and each write say. */
  sample: EngineSample = { l0Files: 0, stalled: false };
  /** What every call rejects with, while it is set. */
  failure: Error | undefined;
  /** Batches in the order in which they were applied. */
  readonly applied: EngineBatch[] = [];
  checkpoints = 0;
  readonly #time: VirtualTime;
  readonly #callMs: number;
  readonly #triggers: LevelZeroTriggers;
  readonly #rows = new Map<string, Uint8Array>();
  #flushedUpTo = 0;
  #life = 0;

  constructor({ time, callMs = 2, triggers = {} }: FakeEngineOptions) {
    this.#time = time;
    this.#callMs = callMs;
    this.#triggers = { ...TRIGGERS, ...triggers };
  }

  /** The port of a process that has just opened the store. */
  open(): EnginePort {
    const life = this.#life;
    return {
      triggers: this.#triggers,
      flushedUpTo: this.#flushedUpTo,
      sample: () => this.#call(life, () => this.sample),
      stalledMs: () => this.#call(life, () => 0),
      write: (batch) => this.#write(life, batch),
      get: (keys) =>
        this.#call(life, () => keys.map((key) => this.#rows.get(textOfKey(key)) ?? null)),
      iterate: (range) => this.#call(life, () => this.#iterate(range)),
      checkpoint: () =>
        this.#call(life, () => {
          this.checkpoints += 1;
        }),
      close: () => this.#call(life, () => {}),
    };
  }

  /** The process dies. */
  crash(): void {
    this.#life += 1;
  }

  #write(life: number, batch: EngineBatch): Promise<EngineWriteOutcome> {
    return this.#call(life, (): EngineWriteOutcome => {
      if (this.sample.stalled) return { kind: 'refused', sample: this.sample };
      this.applied.push(batch);
      for (const { key, value } of batch.records) {
        if (value === null) this.#rows.delete(textOfKey(key));
        else this.#rows.set(textOfKey(key), value);
      }
      this.#flushedUpTo = batch.flushedUpTo;
      return { kind: 'written', sample: this.sample };
    });
  }

  #iterate({ start, end, limit }: KeyRange): KvRow[] {
    const from = textOfKey(start);
    const to = end === undefined ? undefined : textOfKey(end);
    return [...this.#rows]
      .filter(([key]) => key >= from && (to === undefined || key < to))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([key, value]) => ({ key: keyOfText(key), value }));
  }

  #call<Result>(life: number, work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#time.setTimer(this.#callMs / 2, () => {
        if (life !== this.#life) return;
        const { failure } = this;
        const result = failure === undefined ? work() : undefined;
        this.#time.setTimer(this.#callMs / 2, () => {
          if (life !== this.#life) return;
          if (failure === undefined) resolve(result as Result);
          else reject(failure);
        });
      });
    });
  }
}
