/**
 * Tells the control thread that the downstream is busy: a counter in the arena, which nothing loses, and a record in the
 * thread's ring, whose bell wakes the control thread once per batch.
 */

import { Doorbell } from '../shared/doorbell.js';
import { STATS } from '../shared/kernel/port.js';
import { HEADER, RING_RECORDS, THREAD } from '../shared/layout.js';
import { RingProducer } from '../shared/message-ring.js';
import type { ThreadContext } from './thread-context.js';

/** Kinds of records in the rings. `a`: RPC id, `x`: when, in ns. */
export const RECORD = { BUSY: 0 } as const;

export class BusyReports {
  readonly #thread: ThreadContext;
  readonly #ring: RingProducer;

  constructor(thread: ThreadContext) {
    const { buffer } = thread.arena;
    this.#thread = thread;
    const doorbell = new Doorbell(buffer, HEADER.CONTROL_ASLEEP);
    this.#ring = new RingProducer(buffer, thread.place.ring, RING_RECORDS, doorbell);
  }

  report(rpcId: number): void {
    const { arena, place } = this.#thread;
    this.#thread.count(place.stats(rpcId, 'host') + STATS.BUSY, 1);
    // After the counter of the RPC type: who sees this one move finds that one.
    this.#thread.count(place.header + THREAD.BUSY, 1);
    if (this.#ring.push(RECORD.BUSY, rpcId, 0, this.#thread.nowNs(), 0)) {
      Atomics.notify(arena.i32, HEADER.CONTROL_ASLEEP >>> 2);
    }
  }
}
