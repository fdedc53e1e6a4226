/** A thread's counters of what became of one RPC type's calls, in the arena; see CALL_STATS of layout.ts. */
import { CALL_STATS } from '../shared/layout.js';
import type { VerdictKind } from '../shared/verdict.js';
import type { BusyReports } from './busy-reports.js';
import type { ThreadContext } from './thread-context.js';

export class CallAccount {
  readonly #thread: ThreadContext;
  readonly #busy: BusyReports;
  readonly #rpcId: number;
  readonly #at: number;

  constructor(thread: ThreadContext, busy: BusyReports, rpcId: number) {
    this.#thread = thread;
    this.#busy = busy;
    this.#rpcId = rpcId;
    this.#at = thread.place.calls(rpcId);
  }

  /** An attempt has ended. BUSY is told to the control thread. */
  ended(verdict: VerdictKind): void {
    if (verdict === 'success') this.#thread.count(this.#at + CALL_STATS.SUCCESS, 1);
    else if (verdict === 'busy') this.#busy.report(this.#rpcId);
    else if (verdict === 'failure') this.count('FAILURE');
    else if (verdict === 'refused') this.count('REFUSED');
    else this.count('IGNORED');
  }

  count(event: keyof typeof CALL_STATS): void {
    this.#thread.count(this.#at + CALL_STATS[event], 1);
  }
}
