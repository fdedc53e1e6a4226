import type { BucketQueue } from './bucket-queue.js';

export interface CrowdedBucketsPorts {
  /** When a batch of the bucket could go, if it had one; Infinity: something has to happen first. */
  mayGoAtMs(queue: BucketQueue): number;
  /** Records of the bucket that waited for room have it now. */
  admitted(queue: BucketQueue): void;
}

/** Buckets with puts that wait for room, longest first, and who waits until there are none. */
export class CrowdedBuckets {
  readonly #ports: CrowdedBucketsPorts;
  readonly #queues = new Set<BucketQueue>();
  #waiters: (() => void)[] = [];

  constructor(ports: CrowdedBucketsPorts) {
    this.#ports = ports;
  }

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Puts that wait. */
  get records(): number {
    let records = 0;
    for (const queue of this.#queues) records += queue.overflow.live;
    return records;
  }

  add(queue: BucketQueue): void {
    this.#queues.add(queue);
  }

  /** Calls `done` when no put waits any more. */
  whenEmpty(done: () => void): void {
    this.#waiters.push(done);
  }

  /**
   * Lets in who waits: each bucket in its turn, as far as its share goes. Returns when to do so again if nothing happens;
   * Infinity: no need.
   */
  admit(nowMs: number): number {
    let againMs = Number.POSITIVE_INFINITY;
    if (this.#queues.size > 0) {
      for (const queue of [...this.#queues]) {
        const atMs = this.#admitTo(queue, nowMs);
        if (atMs <= nowMs) {
          this.#queues.delete(queue);
          this.#queues.add(queue);
          this.#ports.admitted(queue);
        } else againMs = Math.min(againMs, atMs);
        if (queue.overflow.live === 0) this.#queues.delete(queue);
      }
    }
    this.#tell();
    return againMs;
  }

  clear(): void {
    this.#queues.clear();
    this.#tell();
  }

  /**
   * A bucket with nothing in the buffer gets its record in also without room, one bucket at a time: a record that is larger
   * than what ever comes free among many busy buckets would wait for ever. Returns when: `nowMs` if something got in.
   */
  #admitTo(queue: BucketQueue, nowMs: number): number {
    if (queue.admit() > 0) return nowMs;
    if (!queue.mayHaveGuest) return Number.POSITIVE_INFINITY;
    const atMs = this.#ports.mayGoAtMs(queue);
    if (atMs > nowMs) return atMs;
    queue.admitGuest();
    return nowMs;
  }

  #tell(): void {
    if (this.#queues.size > 0 || this.#waiters.length === 0) return;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const done of waiters) done();
  }
}
