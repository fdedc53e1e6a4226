import { type LimitAction, type PairKey, type PairRate, pairId } from './limit-action.js';
import type { ThrottleLevels } from './state-machine.js';

/** What a change did to the limit of one pair. Rates are calls per second. */
export interface LimitMove extends PairKey {
  /** null: it had none. */
  readonly before: number | null;
  /** null: it has none any more. */
  readonly after: number | null;
  /** Rate that an upgrade saw, of which a first limit is a part; null: the change did not look at rates. */
  readonly qps: number | null;
}

/** One move for each action, in the order of the actions. `levels` are those that the actions were made for. */
export function limitMoves(
  levels: ThrottleLevels,
  actions: readonly LimitAction[],
  rates: readonly PairRate[],
): readonly LimitMove[] {
  const rateOf = new Map(rates.map((rate) => [pairId(rate), rate.qps]));
  return actions.map((action) => {
    const { rpc, table } = action;
    const id = pairId(action);
    return {
      rpc,
      table,
      before: levels.limits.get(id)?.qpsLimit ?? null,
      after: action.type === 'set_limit' ? action.qpsLimit : null,
      qps: rateOf.get(id) ?? null,
    };
  });
}
