/**
 * Room for records, shared by all buckets so that none takes what others need: a bucket may hold as much as is left free
 * (dynamic thresholds, Choudhury and Hahne 1998, with a factor of 1). One bucket that cannot send fills half the buffer, two
 * fill a third each, and there is always a share left for the next.
 */
export class BufferRoom {
  readonly capacity: number;
  #used = 0;
  #lent = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether a bucket that holds `held` bytes may hold `bytes` more. The first record of a bucket needs free room only. */
  fits(held: number, bytes: number): boolean {
    const free = this.capacity + this.#lent - this.#used;
    return bytes <= free && (held === 0 || held + bytes <= free);
  }

  get isLent(): boolean {
    return this.#lent > 0;
  }

  /** So much more than there is, for one record; nobody else has it. It takes nothing from the others. */
  lend(bytes: number): void {
    this.#lent = bytes;
  }

  /** The record has left the buffer. */
  repay(): void {
    this.#lent = 0;
  }

  take(bytes: number): void {
    this.#used += bytes;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}
