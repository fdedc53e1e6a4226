/**
 * A ring of fixed-size records from one thread (producer) to the control thread (consumer). The producer never waits: a
 * record that finds the ring full is dropped and counted by its kind. A record is written behind the head and published
 * by the one store of the head, so a producer killed anywhere leaves it whole or not at all. The consumer takes a record
 * off the ring before it handles it: killed in between, it has lost that one and will not see it twice.
 *
 * A ring belongs to one producer after the other: when a thread has died or left, and what it sent is drained, the
 * consumer resets the ring, and a producer of before the reset can no longer write.
 */
import type { ArenaAtomics } from './arena-atomics.js';
import type { Doorbell } from './doorbell.js';

/** Kinds are 0 to 7. */
export const RING_KINDS = 8;

/** Arena bytes of a ring of `records` records. */
export const ringBytes = (records: number): number => HEADER_BYTES + records * RECORD_BYTES;

const HEADER_BYTES = 192;
const RECORD_BYTES = 32;
/** i32: records published so far, modulo 2^32. Producer. */
const HEAD = 0;
/** i32: records taken so far, modulo 2^32; on a line of its own. Consumer. */
const TAIL = 64 / 4;
/** i32: +1 with each reset. Consumer. */
const GENERATION = 68 / 4;
/** u64 x 8: records dropped by kind. Producer; never reset. */
const DROPS = 128 / 8;

/** Takes one record. `a` and `b` are u32, `x` and `y` f64. */
export type RingHandler = (kind: number, a: number, b: number, x: number, y: number) => void;

class RingWords {
  readonly i32: Int32Array;
  readonly u64: BigUint64Array;
  readonly f64: Float64Array;
  readonly mask: number;

  constructor(buffer: SharedArrayBuffer, base: number, records: number) {
    if (!Number.isSafeInteger(records) || records < 2 || (records & (records - 1)) !== 0) {
      throw new RangeError(`records must be a power of two >= 2, got ${records}`);
    }
    const bytes = ringBytes(records);
    this.i32 = new Int32Array(buffer, base, bytes / 4);
    this.u64 = new BigUint64Array(buffer, base, bytes / 8);
    this.f64 = new Float64Array(buffer, base, bytes / 8);
    this.mask = records - 1;
  }

  /** Byte offset of the record at a position. */
  record(position: number): number {
    return HEADER_BYTES + (position & this.mask) * RECORD_BYTES;
  }
}

/** The sending end, for one thread. */
export class RingProducer {
  readonly #ring: RingWords;
  readonly #doorbell: Doorbell;
  readonly #atomics: ArenaAtomics;
  readonly #generation: number;
  #head: number;
  /** The last tail seen; the true one may be further on. */
  #tail: number;

  /** `base`: byte offset of `ringBytes(records)` bytes, a multiple of 8. `records`: a power of two. */
  constructor(
    buffer: SharedArrayBuffer,
    base: number,
    records: number,
    doorbell: Doorbell,
    atomics: ArenaAtomics = Atomics,
  ) {
    this.#ring = new RingWords(buffer, base, records);
    this.#doorbell = doorbell;
    this.#atomics = atomics;
    this.#generation = atomics.load(this.#ring.i32, GENERATION);
    this.#head = atomics.load(this.#ring.i32, HEAD);
    this.#tail = atomics.load(this.#ring.i32, TAIL);
  }

  /**
   * Sends a record, or counts a drop. `a` and `b` are u32, `x` and `y` f64.
   * @returns whether the caller must wake the consumer.
   * @throws RangeError for a kind that is not 0 to 7.
   */
  push(kind: number, a: number, b: number, x: number, y: number): boolean {
    if (!Number.isInteger(kind) || kind < 0 || kind >= RING_KINDS) {
      throw new RangeError(`kind must be an integer from 0 to ${RING_KINDS - 1}, got ${kind}`);
    }
    const { i32, u64, f64, mask } = this.#ring;
    const stale = this.#atomics.load(i32, GENERATION) !== this.#generation;
    if (!stale && ((this.#head - this.#tail) | 0) > mask)
      this.#tail = this.#atomics.load(i32, TAIL);
    if (stale || ((this.#head - this.#tail) | 0) > mask) {
      this.#atomics.add(u64, DROPS + kind, 1n);
      return this.#doorbell.ring();
    }
    const at = this.#ring.record(this.#head);
    i32[at / 4] = kind;
    i32[at / 4 + 1] = a;
    i32[at / 4 + 2] = b;
    f64[at / 8 + 2] = x;
    f64[at / 8 + 3] = y;
    this.#head = (this.#head + 1) | 0;
    // Publishes the record.
    this.#atomics.store(i32, HEAD, this.#head);
    return this.#doorbell.ring();
  }
}

/** The receiving end, on the control thread. */
export class RingConsumer {
  readonly #ring: RingWords;
  readonly #atomics: ArenaAtomics;

  /** As for the producer. */
  constructor(
    buffer: SharedArrayBuffer,
    base: number,
    records: number,
    atomics: ArenaAtomics = Atomics,
  ) {
    this.#ring = new RingWords(buffer, base, records);
    this.#atomics = atomics;
  }

  /** Whether there is nothing to drain. */
  isEmpty(): boolean {
    const { i32 } = this.#ring;
    return this.#atomics.load(i32, HEAD) === this.#atomics.load(i32, TAIL);
  }

  /** Handles what is there, in order, at most `max` records. @returns how many. */
  drain(handle: RingHandler, max: number = this.#ring.mask + 1): number {
    const { i32, f64 } = this.#ring;
    let tail = this.#atomics.load(i32, TAIL);
    const ready = Math.min((this.#atomics.load(i32, HEAD) - tail) | 0, max);
    for (let n = 0; n < ready; n++) {
      const at = this.#ring.record(tail);
      const kind = i32[at / 4] as number;
      const a = (i32[at / 4 + 1] as number) >>> 0;
      const b = (i32[at / 4 + 2] as number) >>> 0;
      const x = f64[at / 8 + 2] as number;
      const y = f64[at / 8 + 3] as number;
      tail = (tail + 1) | 0;
      // Gives the record's place back. Before the handler: one that throws does not meet the same record again.
      this.#atomics.store(i32, TAIL, tail);
      handle(kind, a, b, x, y);
    }
    return Math.max(ready, 0);
  }

  /** Records of a kind dropped so far, by all producers. */
  drops(kind: number): number {
    return Number(this.#atomics.load(this.#ring.u64, DROPS + kind));
  }

  /** Empties the ring for its next producer. The last one has died or left, and what it sent is drained. */
  reset(): void {
    const { i32 } = this.#ring;
    this.#atomics.add(i32, GENERATION, 1);
    this.#atomics.store(i32, TAIL, this.#atomics.load(i32, HEAD));
  }
}
