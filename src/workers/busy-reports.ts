/**
 * Tells the control thread that the downstream is busy: a counter in the arena, which nothing loses, and a record that
 * wakes it.
 */
import { STATS } from '../shared/kernel/port.js';
import { THREAD } from '../shared/layout.js';
import { RECORD, type ReportRing } from './report-ring.js';
import type { ThreadContext } from './thread-context.js';

export class BusyReports {
  readonly #thread: ThreadContext;
  readonly #ring: ReportRing;

  constructor(thread: ThreadContext, ring: ReportRing) {
    this.#thread = thread;
    this.#ring = ring;
  }

  report(rpcId: number): void {
    const { place } = this.#thread;
    this.#thread.count(place.stats(rpcId, 'host') + STATS.BUSY, 1);
    // After the counter of the RPC type: who sees this one move finds that one.
    this.#thread.count(place.header + THREAD.BUSY, 1);
    this.#ring.send(RECORD.BUSY, rpcId, 0, this.#thread.nowNs(), 0);
  }
}
