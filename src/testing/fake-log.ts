import type { LogBatch, LogPort } from '../actors/kv/log-port.js';
import type { VirtualTime } from './virtual-time.js';

export interface FakeLogOptions {
  readonly time: VirtualTime;
  /** How long a sync takes, ms. A batch is durable at half of it. Default 2. */
  readonly syncMs?: number;
}

/** A log for tests. Batches become durable one after the other; a crash keeps those that are, and no old port answers. */
export class FakeLog {
  /** What every append rejects with, while it is set; nothing is kept then. */
  failure: Error | undefined;
  /** Durable and not released, oldest first. */
  batches: LogBatch[] = [];
  readonly #time: VirtualTime;
  readonly #syncMs: number;
  #freeAtMs = 0;
  #life = 0;

  constructor({ time, syncMs = 2 }: FakeLogOptions) {
    this.#time = time;
    this.#syncMs = syncMs;
  }

  /** The port of a process that has just opened the log. */
  open(): LogPort {
    const life = this.#life;
    return {
      append: (batch) => this.#append(life, batch),
      release: (tablet, lsn) => {
        if (life !== this.#life) return;
        this.batches = this.batches.filter(
          (batch) => batch.tablet !== tablet || batch.firstLsn + batch.records.length > lsn,
        );
      },
    };
  }

  /** What a process that opens the log finds of `tablet`. */
  recover(tablet: string): readonly LogBatch[] {
    return this.batches.filter((batch) => batch.tablet === tablet);
  }

  /** The process dies. */
  crash(): void {
    this.#life += 1;
    this.#freeAtMs = 0;
  }

  #append(life: number, batch: LogBatch): Promise<void> {
    const { nowMs } = this.#time;
    const startMs = Math.max(nowMs, this.#freeAtMs);
    this.#freeAtMs = startMs + this.#syncMs;
    return new Promise((resolve, reject) => {
      this.#time.setTimer(startMs - nowMs + this.#syncMs / 2, () => {
        if (life !== this.#life) return;
        const { failure } = this;
        if (failure === undefined) this.batches.push(batch);
        this.#time.setTimer(this.#syncMs / 2, () => {
          if (life !== this.#life) return;
          if (failure === undefined) resolve();
          else reject(failure);
        });
      });
    });
  }
}
