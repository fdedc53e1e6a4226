import type { RpcSnapshot } from '../../../../../workers/snapshot.js';

/** A bucket that hands out this share of its rate is near its limit. */
export const NEAR_LIMIT = 0.9;

/** What one RPC type's host bucket did between two states. Rates are per second. */
export interface RpcRates {
  readonly rpc: string;
  /** 0: no limit. */
  readonly qpsLimit: number;
  readonly burst: number;
  readonly granted: number;
  readonly busy: number;
  readonly refused: number;
  /** Waits that ended, and their mean, ms; undefined: there were none. */
  readonly waits: number;
  readonly meanWaitMs: number | undefined;
  /** Granted to limit; undefined: no limit. */
  readonly use: number | undefined;
  readonly nearLimit: boolean;
}

/** @param spanMs between both; at least 1. A counter that fell (another process) counts from 0. */
export function rpcRates(
  before: RpcSnapshot | undefined,
  after: RpcSnapshot,
  spanMs: number,
): RpcRates {
  const grown = (read: (rpc: RpcSnapshot) => number): number => {
    const [from, to] = [before === undefined ? read(after) : read(before), read(after)];
    return Math.max(0, to - (from > to ? 0 : from));
  };
  const perSecond = (count: number): number => (count * 1000) / Math.max(1, spanMs);
  const waits = grown(({ hostWait }) => hostWait.count);
  const granted = perSecond(grown((rpc) => rpc.granted));
  const use = after.qpsLimit > 0 ? granted / after.qpsLimit : undefined;
  return {
    rpc: after.rpc,
    qpsLimit: after.qpsLimit,
    burst: after.burst,
    granted,
    busy: perSecond(grown((rpc) => rpc.busy)),
    refused: perSecond(grown((rpc) => rpc.refused)),
    waits: perSecond(waits),
    meanWaitMs: waits === 0 ? undefined : grown(({ hostWait }) => hostWait.sumNs) / waits / 1e6,
    use,
    nearLimit: use !== undefined && use >= NEAR_LIMIT,
  };
}
