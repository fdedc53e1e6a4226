/** Writers that a bucket keeps in mind; the one that has been silent longest is forgotten first. */
const MOST_WRITERS = 4096;

/**
 * Lets the attempts of each writer through in the order of their numbers alone. An attempt that its writer has given up may
 * still be on the way, in a connection that was lost; without this it could land behind what was written since.
 */
export class WriterFence {
  readonly #last = new Map<string, number>();

  get writers(): number {
    return this.#last.size;
  }

  /** Whether the attempt may go on: its number is above all that were seen of its writer. */
  admit(writer: string, attempt: number): boolean {
    const last = this.#last.get(writer);
    if (last !== undefined && attempt <= last) return false;
    // Deleted first, so that the order of the map is that of the last attempts.
    this.#last.delete(writer);
    this.#last.set(writer, attempt);
    if (this.#last.size > MOST_WRITERS) {
      for (const oldest of this.#last.keys()) {
        this.#last.delete(oldest);
        break;
      }
    }
    return true;
  }
}
