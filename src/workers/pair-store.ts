/** The arena's (rpc, table) pairs and their strict limiters, as the throttle's actors see them. Control thread only. */
import type { LimitAction, PairKey, PairLimit } from '../actors/throttle/limit-action.js';
import type { LimitPort, PairCell, PairSource, PairVisitor } from '../actors/throttle/ports.js';
import type { Arena } from '../shared/arena.js';
import { CELL_FIELD } from '../shared/directory/cell.js';
import type { DirectoryKeeper } from '../shared/directory-keeper.js';
import type { KeyDirectory } from '../shared/key-directory.js';
import { cellQps } from '../shared/limiter-words.js';
import { BUCKET_SPACE } from '../shared/pressure/window-cells.js';
import { intervalNs, MAX_QPS } from '../shared/quota.js';
import type { Clock } from './clock.js';
import type { RpcTable } from './rpc-table.js';

export interface PairStoreParts {
  readonly arena: Arena;
  readonly clock: Clock;
  readonly rpcs: RpcTable;
  readonly directory: KeyDirectory;
  readonly keeper: DirectoryKeeper;
  /** Limits have changed: tell the threads. */
  readonly onChange: () => void;
  /** A pair was removed: the directory wants upkeep. */
  readonly onDrop: () => void;
}

/** A floor far below any that is configured; a rate has to fit the arena's words. */
const LEAST_QPS = 1e-6;

export class PairStore implements PairSource, LimitPort {
  readonly capacity: number;
  readonly #parts: PairStoreParts;
  /**
   * Cells of keys that are held as prefix and hash, by the text that stands for them: of all live ones that were described,
   * and at most as many dead ones as there are cells.
   */
  readonly #longKeys = new Map<string, number>();

  constructor(parts: PairStoreParts) {
    this.#parts = parts;
    this.capacity = parts.arena.layout.capacity.pairs;
  }

  visit(visitor: PairVisitor): void {
    this.#parts.directory.visit(visitor);
  }

  describe(cell: number): PairKey {
    const { directory, rpcs } = this.#parts;
    const { space, key, hashed } = directory.describe(directory.cellAt(cell));
    const rpc = rpcs.all()[space]?.name ?? String(space);
    if (hashed) this.#rememberLong(longId(rpc, key), cell);
    return { rpc, table: key };
  }

  locate(rpc: string, table: string): PairCell | undefined {
    const { directory } = this.#parts;
    const offset = this.#offsetOf(rpc, table, false);
    if (offset === 0) return undefined;
    return { cell: directory.indexOf(offset), generation: directory.generationOf(offset) };
  }

  rpcId(rpc: string): number | undefined {
    return this.#parts.rpcs.find(rpc)?.id;
  }

  drop(cell: number, generation: number): boolean {
    const { directory, keeper } = this.#parts;
    if (directory.generationOf(directory.cellAt(cell)) !== generation) return false;
    // Buckets are none of the throttle's.
    if (directory.describe(directory.cellAt(cell)).space === BUCKET_SPACE) return false;
    const dropped = keeper.remove(cell, (index) => this.#limitOf(index) > 0);
    if (dropped) this.#parts.onDrop();
    return dropped;
  }

  apply(actions: readonly LimitAction[]): void {
    const { arena, clock } = this.#parts;
    for (const action of actions) {
      const offset = this.#offsetOf(action.rpc, action.table, action.type === 'set_limit');
      if (offset === 0) continue;
      if (action.type === 'remove_limit') {
        arena.kernel.strictConfigure(offset, clock.nowNs(), 0, 0, 1);
      } else {
        if (cellQps(arena, offset) === 0) this.#noteSince(offset);
        const qps = Math.min(Math.max(action.qpsLimit, LEAST_QPS), MAX_QPS);
        const reset = action.resetReservation ? 1 : 0;
        arena.kernel.strictConfigure(
          offset,
          clock.nowNs(),
          intervalNs(qps),
          action.qpsLimit,
          reset,
        );
      }
    }
    if (actions.length > 0) this.#parts.onChange();
  }

  /** Begins all plans anew: what a dry run has reserved nobody has waited for. */
  replan(): void {
    this.apply(
      this.inForce().map((limit) => ({ type: 'set_limit', ...limit, resetReservation: true })),
    );
  }

  inForce(): readonly PairLimit[] {
    const { directory, rpcs } = this.#parts;
    const known = rpcs.all().length;
    const limits: PairLimit[] = [];
    directory.visit((cell, _generation, space) => {
      if (space >= known) return;
      const qpsLimit = this.#limitOf(cell);
      if (qpsLimit > 0) limits.push({ ...this.describe(cell), qpsLimit });
    });
    return limits;
  }

  /** Before the limit is there: whoever sees it reads since when it is. */
  #noteSince(offset: number): void {
    const { arena, clock } = this.#parts;
    const tenths = Math.floor(clock.nowNs() / 1e8);
    Atomics.store(arena.i32, (offset + CELL_FIELD.LIMITED_SINCE) >>> 2, tenths);
  }

  #limitOf(cell: number): number {
    const { arena, directory } = this.#parts;
    return cellQps(arena, directory.cellAt(cell));
  }

  #offsetOf(rpc: string, table: string, insert: boolean): number {
    const { directory, rpcs } = this.#parts;
    const id = rpcs.find(rpc)?.id;
    if (id === undefined) return 0;
    const long = this.#longKeys.get(longId(rpc, table));
    if (long !== undefined && this.#isOf(long, id, table)) return directory.cellAt(long);
    return insert ? directory.findOrInsert(id, table) : directory.find(id, table);
  }

  #isOf(cell: number, id: number, table: string): boolean {
    const { directory } = this.#parts;
    const offset = directory.cellAt(cell);
    if (!directory.isLive(offset)) return false;
    const { key, space } = directory.describe(offset);
    return space === id && key === table;
  }

  #rememberLong(id: string, cell: number): void {
    this.#longKeys.set(id, cell);
    if (this.#longKeys.size <= 2 * this.capacity) return;
    for (const [known, old] of this.#longKeys) {
      const end = known.indexOf('\u0000');
      const rpcId = this.rpcId(known.slice(0, end));
      if (rpcId === undefined || !this.#isOf(old, rpcId, known.slice(end + 1))) {
        this.#longKeys.delete(known);
      }
    }
  }
}

/** RPC types hold no NUL. */
function longId(rpc: string, table: string): string {
  return `${rpc}\u0000${table}`;
}
