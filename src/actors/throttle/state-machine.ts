import { type LimitAction, type PairLimit, type PairRate, pairId } from './limit-action.js';

/**
 * Which limits stand, and how to undo them. Pure and without time. The rule is the seed's (Apache Doris, cloud
 * meta-service back-pressure): an upgrade multiplies the limit, or the present rate where there is none, of each given
 * pair by `ratio`, never below `floorQps`; a downgrade takes the newest upgrade back.
 *
 * Invariant: `limits` is what results from doing the records of `history` in order.
 */

export interface UpgradeParams {
  /** Pairs per RPC type that the caller puts into a snapshot; not looked at here. */
  readonly topK: number;
  /** Between 0 and 1. */
  readonly ratio: number;
  /** Calls per second, > 0. */
  readonly floorQps: number;
}

export interface LimitChange extends PairLimit {
  /** The limit before; null: there was none. */
  readonly previousQpsLimit: number | null;
}

/** What one upgrade changed: never empty. */
export interface UpgradeRecord {
  readonly changes: readonly LimitChange[];
}

export interface ThrottleLevels {
  readonly limits: ReadonlyMap<string, PairLimit>;
  /** Oldest first. Its length is the level. */
  readonly history: readonly UpgradeRecord[];
}

export interface Transition {
  readonly state: ThrottleLevels;
  readonly actions: readonly LimitAction[];
}

export const NO_LEVELS: ThrottleLevels = Object.freeze({
  limits: new Map<string, PairLimit>(),
  history: Object.freeze([]),
});

/**
 * Most levels that are kept apart; past it the two oldest are undone together. A day of constant BUSY with ever new hot
 * pairs would otherwise grow the history without end.
 */
const MAX_LEVELS = 4096;

/** Limits every pair of the snapshot for which that is stricter than what it has. Actions come in snapshot order. */
export function upgrade(
  state: ThrottleLevels,
  snapshot: readonly PairRate[],
  params: UpgradeParams,
): Transition {
  const limits = new Map(state.limits);
  const changes: LimitChange[] = [];
  for (const { rpc, table, qps } of snapshot) {
    const id = pairId({ rpc, table });
    const previousQpsLimit = limits.get(id)?.qpsLimit ?? null;
    const base = previousQpsLimit ?? qps;
    const qpsLimit = Math.max(base * params.ratio, params.floorQps);
    // A NaN on either side is not stricter.
    if (!(qpsLimit < base)) continue;
    limits.set(id, { rpc, table, qpsLimit });
    changes.push({ rpc, table, qpsLimit, previousQpsLimit });
  }
  if (changes.length === 0) return { state, actions: [] };
  return {
    state: { limits, history: bounded([...state.history, { changes }]) },
    actions: changes.map(({ rpc, table, qpsLimit }) => ({
      type: 'set_limit',
      rpc,
      table,
      qpsLimit,
      resetReservation: false,
    })),
  };
}

/** Takes the newest upgrade back. Without one it does nothing. */
export function downgrade(state: ThrottleLevels): Transition {
  const record = state.history.at(-1);
  if (record === undefined) return { state, actions: [] };
  const limits = new Map(state.limits);
  const actions: LimitAction[] = [];
  // Newest change first: a pair that is in the record twice ends at what it had before both.
  const seen = new Set<string>();
  for (const { rpc, table, previousQpsLimit } of [...record.changes].reverse()) {
    const id = pairId({ rpc, table });
    if (previousQpsLimit === null) limits.delete(id);
    else limits.set(id, { rpc, table, qpsLimit: previousQpsLimit });
    seen.add(id);
  }
  for (const change of record.changes) {
    const id = pairId(change);
    if (!seen.delete(id)) continue;
    const { rpc, table } = change;
    const limit = limits.get(id);
    actions.push(
      limit === undefined
        ? { type: 'remove_limit', rpc, table }
        : { type: 'set_limit', rpc, table, qpsLimit: limit.qpsLimit, resetReservation: true },
    );
  }
  return { state: { limits, history: state.history.slice(0, -1) }, actions };
}

/** Removes every limit and forgets the history: table-level back-pressure was switched off. */
export function liftAll(state: ThrottleLevels): Transition {
  const actions = [...state.limits.values()].map(
    ({ rpc, table }) => ({ type: 'remove_limit', rpc, table }) as const,
  );
  return { state: NO_LEVELS, actions };
}

/** The two oldest records become one: its old limits are the first's, its new ones the second's. */
function bounded(history: readonly UpgradeRecord[]): readonly UpgradeRecord[] {
  if (history.length <= MAX_LEVELS) return history;
  const [first, second, ...rest] = history as [UpgradeRecord, UpgradeRecord, ...UpgradeRecord[]];
  const merged = new Map(first.changes.map((change) => [pairId(change), change]));
  for (const change of second.changes) {
    const earlier = merged.get(pairId(change));
    merged.set(pairId(change), {
      ...change,
      previousQpsLimit: earlier === undefined ? change.previousQpsLimit : earlier.previousQpsLimit,
    });
  }
  return [{ changes: [...merged.values()] }, ...rest];
}
