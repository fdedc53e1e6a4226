/**
 * BUSY answers that the throttle actor has not taken yet: however many come, one message is under way, so BUSY cannot fill
 * a mailbox and no count is lost.
 */
export class BusyInbox {
  #count = 0;

  /** Adds `count`, an integer >= 1 (`RangeError` otherwise); whether the actor must be told that something is there. */
  add(count: number): boolean {
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new RangeError(`count must be an integer >= 1, got ${String(count)}`);
    }
    const wasEmpty = this.#count === 0;
    this.#count += count;
    return wasEmpty;
  }

  /** Empties it. */
  take(): number {
    const count = this.#count;
    this.#count = 0;
    return count;
  }
}
