/** A thread's way to tell the control thread that something has happened; the bell wakes it once per batch. */
import { Doorbell } from '../shared/doorbell.js';
import { HEADER, RING_RECORDS } from '../shared/layout.js';
import { RingProducer } from '../shared/message-ring.js';
import type { ThreadContext } from './thread-context.js';

/**
 * Kinds of records. BUSY: `a` is the RPC id, `x` when, in ns. Of circuits: `a` is the index of the cell and `b` its
 * generation, `x` when, in ms, `y` the failures that an opening is owed to, or BY_HAND.
 */
export const RECORD = {
  BUSY: 0,
  /** An address has become unhealthy. */
  CIRCUIT_TRACKED: 1,
  CIRCUIT_OPENED: 2,
  /** By a failed probe. */
  CIRCUIT_REOPENED: 3,
  /** A probe is out. */
  CIRCUIT_HALF_OPEN: 4,
  CIRCUIT_CLOSED: 5,
  /** A pressure window has become shorter, and somebody may wait for its end. */
  PRESSURE_EASED: 6,
} as const;

export const BY_HAND = -1;

export class ReportRing {
  readonly #i32: Int32Array;
  readonly #ring: RingProducer;

  constructor({ arena, place }: ThreadContext) {
    const doorbell = new Doorbell(arena.buffer, HEADER.CONTROL_ASLEEP);
    this.#i32 = arena.i32;
    this.#ring = new RingProducer(arena.buffer, place.ring, RING_RECORDS, doorbell);
  }

  /** Never waits: what a full ring drops is counted by its kind. */
  send(kind: number, a: number, b: number, x: number, y: number): void {
    if (this.#ring.push(kind, a, b, x, y)) Atomics.notify(this.#i32, HEADER.CONTROL_ASLEEP >>> 2);
  }
}
