/**
 * The token bucket as the textbook has it, in exact arithmetic: a level of permits that rises with time. Levels are in
 * ns of emission interval, so that all of it is whole.
 */
export class ExactBucket {
  #intervalNs: bigint;
  #tauNs: bigint;
  /** Of `#atNs`; negative in debt. */
  #levelNs: bigint;
  #atNs: bigint;

  constructor(atNs: bigint, intervalNs: bigint, burst: bigint) {
    this.#intervalNs = intervalNs;
    this.#tauNs = intervalNs * burst;
    this.#levelNs = this.#tauNs;
    this.#atNs = atNs;
  }

  levelNs(atNs: bigint): bigint {
    this.#riseTo(atNs);
    return this.#levelNs;
  }

  take(atNs: bigint, n: bigint): boolean {
    this.#riseTo(atNs);
    if (this.#levelNs < this.#intervalNs * n) return false;
    this.#levelNs -= this.#intervalNs * n;
    return true;
  }

  /** @returns the wait in ns. */
  reserve(atNs: bigint, n: bigint): bigint {
    this.#riseTo(atNs);
    this.#levelNs -= this.#intervalNs * n;
    return this.#levelNs < 0n ? -this.#levelNs : 0n;
  }

  refund(n: bigint): void {
    this.#levelNs += this.#intervalNs * n;
    if (this.#levelNs > this.#tauNs) this.#levelNs = this.#tauNs;
  }

  /** Keeps what is there in permits, rounded down. */
  configure(atNs: bigint, intervalNs: bigint, burst: bigint): void {
    this.#riseTo(atNs);
    const scaled = this.#levelNs * intervalNs;
    const whole = scaled / this.#intervalNs;
    this.#levelNs = scaled < 0n && whole * this.#intervalNs !== scaled ? whole - 1n : whole;
    this.#intervalNs = intervalNs;
    this.#tauNs = intervalNs * burst;
    if (this.#levelNs > this.#tauNs) this.#levelNs = this.#tauNs;
  }

  /** Takes over a level: what is left of a comparison with one that was rounded. */
  adopt(levelNs: bigint): void {
    this.#levelNs = levelNs;
  }

  #riseTo(atNs: bigint): void {
    if (atNs <= this.#atNs) return;
    this.#levelNs += atNs - this.#atNs;
    this.#atNs = atNs;
    if (this.#levelNs > this.#tauNs) this.#levelNs = this.#tauNs;
  }
}
