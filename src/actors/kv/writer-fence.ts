/** Writers that a bucket keeps in mind; the one that has been silent longest is forgotten first. */
const MOST_WRITERS = 4096;
/** A kernel gives up delivering what was written to a lost connection after about a quarter of an hour. */
const FORGET_MS = 20 * 60 * 1000;

/** A name is chosen at random, and kept: it need not be long. */
const LONGEST_NAME = 256;

/** Why an attempt can be in no order; undefined: it can. */
export function refuseAttempt(writer: unknown, attempt: unknown): string | undefined {
  if (typeof writer !== 'string' || writer.length > LONGEST_NAME) {
    return `writer must be a name of at most ${LONGEST_NAME} characters`;
  }
  if (Number.isSafeInteger(attempt) && (attempt as number) >= 0) return undefined;
  return `attempt must be an integer from 0 to 2^53 - 1, got ${String(attempt)}`;
}

interface Seen {
  attempt: number;
  atMs: number;
}

/**
 * Lets the attempts of each writer through in the order of their numbers alone. An attempt that its writer has given up may
 * still be on the way, in a connection that was lost; without this it could land behind what was written since.
 */
export class WriterFence {
  /** In the order of their last attempts. */
  readonly #writers = new Map<string, Seen>();

  get writers(): number {
    return this.#writers.size;
  }

  /** Whether the attempt may go on: its number is above all that were seen of its writer. */
  admit(writer: string, attempt: number, nowMs: number): boolean {
    const seen = this.#writers.get(writer);
    if (seen !== undefined && attempt <= seen.attempt) return false;
    this.#writers.delete(writer);
    this.#writers.set(writer, { attempt, atMs: nowMs });
    for (const [oldest, { atMs }] of this.#writers) {
      if (this.#writers.size <= MOST_WRITERS && nowMs - atMs < FORGET_MS) break;
      this.#writers.delete(oldest);
    }
    return true;
  }
}
