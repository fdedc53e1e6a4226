/**
 * What `runtime.snapshot()` reads from the arena, without asking any thread. Totals only grow, also when threads die.
 * Times are milliseconds unless the name says otherwise.
 */

/** A bucket of a histogram: the waits that were at most `upperNs` and more than the bound of the bucket before. */
export interface HistogramBucket {
  /** Inclusive upper bound, ns. */
  readonly upperNs: number;
  readonly count: number;
}

/** Not cumulative, ascending, only buckets that are not empty. */
export interface HistogramSnapshot {
  readonly count: number;
  readonly sumNs: number;
  readonly buckets: readonly HistogramBucket[];
}

/** A pair that is throttled now. */
export interface LimitSnapshot {
  readonly rpc: string;
  readonly table: string;
  /** Calls per second. */
  readonly qpsLimit: number;
  readonly currentQps: number;
}

export interface RpcSnapshot {
  readonly rpc: string;
  /** Of the whole process, calls per second; 0: off. */
  readonly qpsLimit: number;
  readonly burst: number;
  /** Permits that the host bucket handed out, and what became of them. */
  readonly granted: number;
  readonly spent: number;
  readonly returned: number;
  readonly lost: number;
  /** Calls that were refused by the host bucket or by a full or timed-out wait. */
  readonly refused: number;
  /** Attempts that were let through to the downstream. */
  readonly calls: number;
  /** Attempts that the downstream answered with BUSY. */
  readonly busy: number;
  readonly hostWait: HistogramSnapshot;
  readonly tableWait: HistogramSnapshot;
  /** Sum of the waits that dry runs would have asked for. */
  readonly dryRunWaitMs: number;
  /** Tables that have a limit now. */
  readonly throttledTables: number;
}

export interface ThrottleSnapshot {
  readonly upgrades: number;
  readonly downgrades: number;
  readonly busy: number;
  /** The same in the last 60 seconds. */
  readonly upgrades60s: number;
  readonly downgrades60s: number;
  readonly busy60s: number;
}

/** `granted = spent + returned + lost + held`, summed over all RPC types; `held` are permits of calls still under way. */
export interface ConservationSnapshot {
  readonly ok: boolean;
  readonly granted: number;
  readonly spent: number;
  readonly returned: number;
  readonly lost: number;
  readonly held: number;
}

export interface RuntimeSnapshot {
  /** Since the runtime's epoch. */
  readonly atMs: number;
  readonly configVersion: number;
  /** Upgrades in force: 0 when nothing is throttled. */
  readonly level: number;
  /** Which control thread this is, counted from 1. */
  readonly controlGeneration: number;
  readonly controlRestarts: number;
  /** Attached now. */
  readonly threads: number;
  readonly limits: readonly LimitSnapshot[];
  readonly directory: {
    /** Pairs with a cell. */
    readonly used: number;
    readonly capacity: number;
    /** Calls that went through uncounted because the directory was full. */
    readonly overflow: number;
  };
  /** Records that a full ring dropped, per kind. */
  readonly ringDrops: { readonly busy: number };
  readonly rpcs: readonly RpcSnapshot[];
  readonly throttle: ThrottleSnapshot;
  /** Largest age of the coarse clock that was seen. */
  readonly maxLagMs: number;
  readonly conservation: ConservationSnapshot;
}
