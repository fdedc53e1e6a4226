/**
 * The table stage: counts the call for its (rpc, table) pair, and holds it where the pair has a limit. The count is what
 * is asked for, before any wait, so that a table that is slowed does not look calm.
 */
import { type RuntimeClosedError, UnknownRpcError } from '../shared/errors.js';
import type { KeyDirectory } from '../shared/key-directory.js';
import { CALL_STATS } from '../shared/layout.js';
import { canonicalKey, type TableKey } from '../shared/table-key.js';
import { ThreadKeyCache } from '../shared/thread-key-cache.js';
import type { AdmissionStage, Admitted } from './admission.js';
import type { Hold } from './hold.js';
import { QueuedCell } from './queued-cell.js';
import type { Grant } from './queued-limiter.js';
import type { Rpc, RpcTable } from './rpc-table.js';
import type { ThreadContext } from './thread-context.js';
import { WaitQueue } from './wait-queue.js';

interface Line {
  /** With the cell: whose line it is. */
  readonly generation: number;
  readonly rpc: Rpc;
  readonly limiter: QueuedCell;
  readonly queue: WaitQueue;
}

export class TableStage implements AdmissionStage {
  readonly name = 'table';
  readonly #thread: ThreadContext;
  readonly #rpcs: RpcTable;
  readonly #pairs: KeyDirectory;
  readonly #cells: ThreadKeyCache;
  /** Limited pairs that this thread has met, by cell. */
  readonly #lines = new Map<number, Line>();
  #closed: RuntimeClosedError | undefined;

  constructor(thread: ThreadContext, rpcs: RpcTable, pairs: KeyDirectory) {
    this.#thread = thread;
    this.#rpcs = rpcs;
    this.#pairs = pairs;
    this.#cells = new ThreadKeyCache(thread.arena.buffer, pairs);
  }

  enter(call: Admitted, maxWaitMs: number): Hold | undefined | Promise<Hold | undefined> {
    // A retry may come after its thread has left: the counters are no longer its own.
    if (this.#closed !== undefined) throw this.#closed;
    if (call.table === undefined) return undefined;
    const settings = this.#thread.settings();
    if (!settings.tables && !settings.tablesDryRun) return undefined;
    const rpc = this.#rpcs.find(call.rpc);
    if (rpc === undefined)
      throw new UnknownRpcError(`rpc '${call.rpc}' is in no configuration`, { rpc: call.rpc });
    if (!rpc.loadRelated()) return undefined;
    const cell = this.#cells.lookup(rpc.id, call.table);
    if (cell === 0 || this.#thread.arena.kernel.enter(cell) === 0) return undefined;
    if (settings.tablesDryRun) {
      this.#rehearse(cell, rpc.id, maxWaitMs);
      return undefined;
    }
    const line = this.#line(cell, rpc, call.table);
    const grant = line.queue.acquire(1, maxWaitMs, call.signal);
    return grant instanceof Promise
      ? this.#wait(line.limiter, rpc.id, grant)
      : new TableHold(line.limiter, grant);
  }

  /** Limits or settings may have changed. */
  refresh(): void {
    const settings = this.#thread.settings();
    const enforced = settings.tables && !settings.tablesDryRun;
    for (const [cell, { queue, limiter, rpc }] of this.#lines) {
      if (enforced && rpc.loadRelated()) queue.pump();
      else queue.releaseAll();
      if (queue.size === 0 && limiter.intervalNs() === 0) this.#lines.delete(cell);
    }
  }

  /** Forgets pairs whose cells are no longer theirs; called before their memory may be used anew. */
  forgetDead(): void {
    for (const [cell, { queue, generation }] of this.#lines) {
      if (this.#pairs.generationOf(cell) === generation) continue;
      queue.releaseAll();
      this.#lines.delete(cell);
    }
  }

  /** Rejects the waiters and takes no more calls. */
  close(reason: RuntimeClosedError): void {
    this.#closed = reason;
    for (const { queue } of this.#lines.values()) queue.rejectAll(reason);
  }

  #line(cell: number, rpc: Rpc, table: TableKey): Line {
    const generation = this.#pairs.generationOf(cell);
    const known = this.#lines.get(cell);
    if (known?.generation === generation) return known;
    known?.queue.releaseAll();
    const { place } = this.#thread;
    const stats = place.stats(rpc.id, 'table');
    const waiting = place.calls(rpc.id) + CALL_STATS.TABLE_WAITING;
    const limiter = new QueuedCell(
      this.#thread,
      { rpc: rpc.name, table: canonicalKey(table) },
      { cell, stats, waiting },
    );
    const line = { generation, rpc, limiter, queue: new WaitQueue(limiter, this.#thread) };
    this.#lines.set(cell, line);
    return line;
  }

  /** What the limit would have asked for; nobody waits. The reservation is made on the real plan, which nobody obeys. */
  #rehearse(cell: number, rpcId: number, maxWaitMs: number): void {
    const { arena, place, scratch } = this.#thread;
    const now = this.#thread.nowNs();
    const wait = arena.kernel.strictReserve(cell, place.shadowStats, scratch, now, maxWaitMs * 1e6);
    if (wait !== 0 && !Number.isNaN(wait))
      this.#rpcs.waits(rpcId).record('dryRun', wait > 0 ? wait : -wait - 1);
  }

  async #wait(limiter: QueuedCell, rpcId: number, pending: Promise<Grant>): Promise<Hold> {
    const grant = await pending;
    this.#rpcs.waits(rpcId).record('table', grant.waitedNs);
    return new TableHold(limiter, grant);
  }
}

class TableHold implements Hold {
  readonly #limiter: QueuedCell;
  readonly #grant: Grant;

  constructor(limiter: QueuedCell, grant: Grant) {
    this.#limiter = limiter;
    this.#grant = grant;
  }

  get waitedNs(): number {
    return this.#grant.waitedNs;
  }

  spend(): void {
    const { booking } = this.#grant;
    if (booking !== undefined) this.#limiter.spend(booking);
  }

  cancel(): void {
    const { booking } = this.#grant;
    if (booking !== undefined) this.#limiter.cancel(booking);
  }
}
