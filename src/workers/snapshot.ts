/**
 * What `runtime.snapshot()` reads from the arena, without asking any thread. Totals only grow, also when threads die.
 * Times are milliseconds unless the name says otherwise.
 */
import type { CircuitView } from '../shared/breaker/circuit-view.js';

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
  /** When it was first slowed, since the runtime's epoch; to a tenth of a second. */
  readonly sinceMs: number;
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
  /** Attempts by what they came to, those that were BUSY aside. */
  readonly outcomes: OutcomesSnapshot;
  /** Attempts beyond the first of their calls. */
  readonly retries: number;
  /** Retries that the budget did not allow. */
  readonly retriesDenied: number;
  /** Attempts that were left behind at their time-out. */
  readonly timeouts: number;
  /** Calls that their deadline ended. */
  readonly deadlines: number;
  /** Attempts that settled after they had been left behind. */
  readonly late: number;
  /** Classifiers that threw, or said what is no verdict. */
  readonly classifierFaults: number;
  readonly hostWait: HistogramSnapshot;
  readonly tableWait: HistogramSnapshot;
  /** Sum of the waits that dry runs would have asked for. */
  readonly dryRunWaitMs: number;
  /** Tables that have a limit now. */
  readonly throttledTables: number;
  readonly waiting: WaitingSnapshot;
}

/** Calls that wait now, in all threads: for the host-level limit, and for the limit of a table. */
export interface WaitingSnapshot {
  readonly host: number;
  readonly table: number;
}

export interface OutcomesSnapshot {
  readonly success: number;
  readonly failure: number;
  readonly refused: number;
  readonly ignored: number;
}

/** Of `gate.readFromPeers`. */
export interface PeerReadsSnapshot {
  /** Reads that a candidate served, and reads that the fallback did. */
  readonly servedByPeer: number;
  readonly servedByFallback: number;
  /** Candidates that were asked, counting each try. */
  readonly attempts: number;
  /** Of these, those that did not serve the read; cancelled ones aside. */
  readonly misses: number;
  /** Candidates that were passed over because their circuit was open. */
  readonly open: number;
  readonly connectTimeouts: number;
}

/** The circuit of an address that something bad is known of. */
export interface CircuitSnapshot extends CircuitView {
  readonly address: string;
}

/** Circuits by state, and totals that only grow. */
export interface BreakerSnapshot {
  /** Unhealthy addresses: `closed` with failures, `open` and `halfOpen`. */
  readonly tracked: number;
  readonly closed: number;
  readonly open: number;
  readonly halfOpen: number;
  /** Calls that an open circuit refused. */
  readonly refused: number;
  /** Openings: by failures, by failed probes, by hand. */
  readonly opened: number;
  /** Closings: by good probes, by hand. */
  readonly recovered: number;
  readonly probes: number;
  /** Probes that were given up: at their deadline, or because their thread has ended. */
  readonly probesLost: number;
  /** Results of calls that an earlier state of their circuit had admitted: they changed nothing. */
  readonly late: number;
  /** Failures that found no room for their address. */
  readonly untracked: number;
  /** Addresses that were forgotten to make room. */
  readonly evicted: number;
}

/** A bucket that all threads leave alone now. */
export interface PressureSnapshot {
  readonly bucket: string;
  /** As it was reported, above 0 and at most 1. */
  readonly pressure: number;
  readonly remainingMs: number;
}

/** Of pressure windows. Totals but for `open` and `waiting`. */
export interface PressureTotalsSnapshot {
  /** Windows that are open now. */
  readonly open: number;
  /** Reports that opened, changed or lifted a window. */
  readonly signals: number;
  /** Reports of buckets that there was no room for: their calls went through. */
  readonly untracked: number;
  /** Calls that were refused because the window would have lasted longer than they wait. */
  readonly refused: number;
  /** Calls that wait now. */
  readonly waiting: number;
  /** Of calls that were held and then let go. */
  readonly wait: HistogramSnapshot;
}

export interface ThrottleSnapshot {
  readonly upgrades: number;
  readonly downgrades: number;
  readonly busy: number;
  /** The same in the last 60 seconds, or since the control thread was started again. */
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

/** What has gone wrong among the actors so far. */
export interface ActorsSnapshot {
  /** Times that a behaviour threw. */
  readonly failures: number;
  /** Messages that a full mailbox refused or dropped. */
  readonly overflows: number;
  /** Messages that reached nobody, for any other reason. */
  readonly undelivered: number;
}

export interface RuntimeSnapshot {
  /** Since the runtime's epoch. */
  readonly atMs: number;
  readonly configVersion: number;
  /** Upgrades in force: 0 when nothing is throttled. */
  readonly level: number;
  /** Limits that are only rehearsed: all is decided and recorded as ever, and nobody waits. */
  readonly dryRun: { readonly host: boolean; readonly tables: boolean };
  /** Which control thread this is, counted from 1. */
  readonly controlGeneration: number;
  readonly controlRestarts: number;
  /** Since the control thread's last sign of life, which it gives once a second; 0 when the runtime is closed: none is due. */
  readonly controlSilentMs: number;
  /** Attached now. */
  readonly threads: number;
  readonly limits: readonly LimitSnapshot[];
  readonly directory: {
    /** Pairs, and buckets with a pressure window, that have a cell. */
    readonly used: number;
    readonly capacity: number;
    /** Calls that went through uncounted because the directory was full. */
    readonly overflow: number;
  };
  /** Records that a full ring dropped, per kind. */
  readonly ringDrops: {
    readonly busy: number;
    readonly circuit: number;
    readonly pressure: number;
  };
  readonly rpcs: readonly RpcSnapshot[];
  readonly peerReads: PeerReadsSnapshot;
  readonly throttle: ThrottleSnapshot;
  /** At most 1000, rather those that are not closed; by address. */
  readonly circuits: readonly CircuitSnapshot[];
  readonly breaker: BreakerSnapshot;
  /** Windows that are open now, at most 1000; by bucket. */
  readonly pressure: readonly PressureSnapshot[];
  readonly pressureTotals: PressureTotalsSnapshot;
  readonly actors: ActorsSnapshot;
  /** Largest age of the coarse clock that was seen. */
  readonly maxLagMs: number;
  readonly conservation: ConservationSnapshot;
}
