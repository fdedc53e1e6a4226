/**
 * When metadata is asked for: as soon as somebody wants it, and when what is known is old while there is something to do.
 * One request at a time; they are counted, so that who wants to know what is true now waits for one that begins later.
 */
export class MetadataClock {
  readonly #refreshMs: number;
  /** Between two requests, however many want one. */
  readonly #gapMs: number;
  #started = 0;
  #wanted = 0;
  #isFlying = false;
  #failures = 0;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #freshAtMs = Number.NEGATIVE_INFINITY;

  constructor(refreshMs: number, gapMs: number) {
    this.#refreshMs = refreshMs;
    this.#gapMs = gapMs;
  }

  /** Failed requests in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** The number of the request that will answer for what is true now. */
  want(): number {
    this.#wanted = this.#started + 1;
    return this.#wanted;
  }

  /** When to ask next; Infinity: no need. Who is idle asks once, and after a failure not again. */
  dueMs(isIdle: boolean): number {
    if (this.#isFlying) return Number.POSITIVE_INFINITY;
    if (isIdle && (this.#failures > 0 || this.#wanted <= this.#started)) {
      return Number.POSITIVE_INFINITY;
    }
    if (this.#wanted > this.#started) return this.#notBeforeMs;
    return Math.max(this.#notBeforeMs, this.#freshAtMs + this.#refreshMs);
  }

  /** The number of the request that is made now. */
  begin(): number {
    this.#isFlying = true;
    this.#started += 1;
    return this.#started;
  }

  succeed(nowMs: number): void {
    this.#isFlying = false;
    this.#failures = 0;
    this.#freshAtMs = nowMs;
    this.#notBeforeMs = nowMs + this.#gapMs;
  }

  fail(nowMs: number, pauseMs: number): void {
    this.#isFlying = false;
    this.#failures += 1;
    this.#notBeforeMs = nowMs + pauseMs;
    this.want();
  }
}
