import { WriterFence } from '../../../../src/actors/kv/writer-fence.js';
import type { Sent } from './writer-under-test.js';

/** Logs of buckets as a server keeps them: what reaches it goes to the end of one, unless the fence is in the way. */
export class PlayedServer {
  readonly logs = new Map<number, string[]>();
  readonly #fences = new Map<number, WriterFence>();
  readonly #isFenced: boolean;

  constructor(isFenced = true) {
    this.#isFenced = isFenced;
  }

  log(bucket: number): string[] {
    const log = this.logs.get(bucket) ?? [];
    this.logs.set(bucket, log);
    return log;
  }

  /** An attempt arrives, now or long after its writer has given it up. undefined: it is refused by the fence. */
  arrive({ bucket, number, keys }: Sent): number | undefined {
    const fence = this.#fences.get(bucket) ?? new WriterFence();
    this.#fences.set(bucket, fence);
    if (this.#isFenced && !fence.admit('w', number, 0)) return undefined;
    const log = this.log(bucket);
    log.push(...keys);
    return log.length;
  }

  /** A new process: its connections, and what it knew of writers, are gone; its logs are not. */
  restart(): void {
    this.#fences.clear();
  }
}
