/**
 * The map of the arena: every word, its unit, who writes it, and what holds of it. Laid out once, never moved. Offsets
 * are bytes. "Control" is the control thread, the only writer of a word marked so unless it says otherwise.
 *
 *      0  u32  state            not 0 once the runtime closes. Written by the kernel's `close`, never cleared
 *     64  u64  coarse clock     ns; 0: must not be used. Atomic max by any thread, cleared by who finds it stale
 *    128  i32  control generation   +1 at each start of a control thread. Owner
 *    132  i32  control thread id    0 while there is none. Owner
 *    136  i32  control asleep       1 while the control thread waits for a wake-up; a producer that clears it wakes it
 *    140  i32  changes              +1 and notified after every change of a limit or a setting. Control
 *    144  i32  settings index       which of the 4 settings blocks is in force. Control
 *    148  i32  rpc count            names published so far. Owner before the start, then control
 *    152  i32  restarts             of the control thread. Owner
 *    156  i32  level                upgrades in force. Control
 *    192  4 x 256  settings, see {@link SETTINGS}. Written while not in force
 *   1216  f64 x 16  totals of the throttle, see {@link TOTALS}. Control
 *   1344  f64  largest lag of the coarse clock that was seen, ns. Control
 *   1352  f64  last sign of life of the control thread, ns. Control, once a second
 *   1408  i32  circuit epoch    see breaker/circuits.ts; on a line of its own, every call reads it. Any thread adds
 *   1472  f64 x 8  totals of the breaker's upkeep, see {@link CIRCUIT_TOTALS}. Control
 *   1536  f64 x 8  totals of the actors, see {@link ACTOR_TOTALS}. Control
 *   1600  i32  pressure epoch   see pressure/pressure-windows.ts; calls with a bucket read it. Any thread adds
 *   1604  i32  pressure eased   windows that became shorter while somebody may have waited. Any thread adds
 *   2048  rpc names   rpcs x 80: u8 length, u8 marks (control), 64 bytes of ASCII, written before the count
 *      -  buckets     rpcs x 2 x BUCKET_BYTES: in force, and shadow (dry run). Kernel
 *      -  waits       rpcs x 3 histograms: waits at the host bucket, at table limits, and what dry runs would have waited
 *      -  pressure wait  one histogram: waits for the end of pressure windows, of all buckets
 *      -  threads     per place: header (64), scratch (64), counters of dry runs (64), counters of peer reads (64),
 *                     counters of circuits (64), counters of pressure (64), rpcs x 2 x 64 counters (host, table), rpcs x 128 counters of calls, ring
 *      -  quiescence  of the attached threads, see quiescence.ts
 *      -  directory   of (rpc, table) pairs, and of buckets with a pressure window, see pressure/window-cells.ts
 *      -  circuits    of addresses, see breaker/circuit-memory.ts
 */

import { cellsFor, circuitMemoryBytes } from './breaker/circuit-memory.js';
import { alignToLine } from './cache-line.js';
import { BUCKET_BYTES, STATS_BYTES } from './kernel/port.js';
import { keyDirectoryBytes } from './key-directory.js';
import { histogramBytes } from './latency-histogram.js';
import { ringBytes } from './message-ring.js';
import { quiescenceBytes } from './quiescence.js';

/** Sizes that are fixed for the life of a runtime. */
export interface Capacity {
  /** Threads attached at one time. */
  readonly threads: number;
  /** RPC types. */
  readonly rpcs: number;
  /** Tracked (rpc, table) pairs. */
  readonly pairs: number;
  /** Addresses that may be unhealthy at one time. Default 1: for who has no use of any. */
  readonly addresses?: number;
}

export const HEADER = {
  CONTROL_GENERATION: 128,
  CONTROL_THREAD: 132,
  CONTROL_ASLEEP: 136,
  CHANGES: 140,
  SETTINGS_INDEX: 144,
  RPC_COUNT: 148,
  RESTARTS: 152,
  LEVEL: 156,
  SETTINGS: 192,
  TOTALS: 1216,
  MAX_LAG: 1344,
  CONTROL_SEEN: 1352,
  CIRCUIT_EPOCH: 1408,
  CIRCUIT_TOTALS: 1472,
  ACTOR_TOTALS: 1536,
  PRESSURE_EPOCH: 1600,
  PRESSURE_EASED: 1604,
} as const;

/** Within a settings block; f64 but for the flags, u32. Control. */
export const SETTINGS = {
  VERSION: 0,
  MAX_WAIT_MS: 8,
  MAX_WAITERS: 16,
  FLAGS: 24,
  MAX_ATTEMPTS: 32,
  BASE_DELAY_MS: 40,
  MAX_DELAY_MS: 48,
  MAX_RETRY_AFTER_MS: 56,
  DEADLINE_MS: 64,
  ATTEMPT_TIMEOUT_MS: 72,
  BUDGET_RATIO: 80,
  BUDGET_PER_SECOND: 88,
  BUDGET_BURST: 96,
  CONNECT_TIMEOUT_MS: 104,
  CONNECT_RETRIES: 112,
  FAILURE_THRESHOLD: 120,
  COOLDOWN_MS: 128,
  PROBE_TIMEOUT_MS: 136,
  COOLDOWN_FACTOR: 144,
  MAX_COOLDOWN_MS: 152,
  JITTER: 160,
  PROBES_TO_CLOSE: 168,
  FAILURE_RATE: 176,
  WINDOW_MS: 184,
  MINIMUM_CALLS: 192,
  MAX_THROTTLE_MS: 200,
} as const;
export const SETTINGS_BYTES = 256;

/** Bits of an RPC type's marks, beside its name. */
export const MARK = { COARSE: 1, LOAD_RELATED: 2 } as const;

/** Bits of a settings block's flags. */
export const FLAG = {
  HOST: 1,
  HOST_DRY_RUN: 2,
  TABLES: 4,
  TABLES_DRY_RUN: 8,
  RETRY_ON_BUSY: 16,
  RETRY_ON_FAILURE: 32,
  RETRY_ON_REFUSED: 64,
  BREAKER: 128,
} as const;

/** Index into the throttle's totals. The `60S` ones are counts within the last 60 s. */
export const TOTALS = {
  UPGRADES: 0,
  DOWNGRADES: 1,
  BUSY: 2,
  UPGRADES_60S: 3,
  DOWNGRADES_60S: 4,
  BUSY_60S: 5,
  /** BUSY answers that the throttle has been told of. */
  BUSY_HANDLED: 6,
} as const;

/** What the upkeep of circuits has done so far, f64 each. */
export const CIRCUIT_TOTALS = {
  /** Probes that were given up: their thread died, or nobody replaced them after their deadline. */
  PROBES_LOST: 0,
  /** Addresses that were forgotten to make room. */
  EVICTED: 8,
} as const;

/** What has gone wrong among the actors of all control threads so far, f64 each. */
export const ACTOR_TOTALS = {
  /** Times that a behaviour threw. */
  FAILURES: 0,
  /** Messages that a full mailbox refused or dropped. */
  OVERFLOWS: 8,
  /** Messages that reached nobody, for any other reason. */
  UNDELIVERED: 16,
} as const;

/** Within a thread's header; i32 unless it says otherwise. */
export const THREAD = {
  /** Odd: in use. One compare-and-swap, +1, claims or frees the place. Who claims it; thread or control frees it. */
  CLAIM: 0,
  /** Thread id + 1 of the owner, 0: not said yet. Thread. */
  THREAD_ID: 4,
  /** The control generation that watches the thread; 0: none yet. Control. */
  WATCHED_BY: 8,
  /** f64: BUSY answers that threads at this place have seen. Thread. */
  BUSY: 16,
  /** f64: waits and attempts under way. Thread; control when it has died. */
  ACTIVE: 24,
} as const;

/**
 * A thread's counters of what became of one RPC type's calls, f64 each, written by that thread alone; the control thread
 * clears the `WAITING` ones when it has died.
 */
export const CALL_STATS = {
  /** Attempts by verdict; those that were busy are counted in the kernel's block. */
  SUCCESS: 0,
  FAILURE: 8,
  REFUSED: 16,
  IGNORED: 24,
  RETRIES: 32,
  /** Retries that the budget did not allow. */
  RETRIES_DENIED: 40,
  /** Attempts that were left behind at their time-out. */
  TIMEOUTS: 48,
  /** Calls that were ended by their deadline. */
  DEADLINES: 56,
  /** Attempts that settled after they had been left behind. */
  LATE: 64,
  /** Classifiers that threw, or said what is no verdict. */
  CLASSIFIER_FAULTS: 72,
  /** Calls that wait now: for the host-level limit, and for the limit of a table. */
  HOST_WAITING: 112,
  TABLE_WAITING: 120,
} as const;
export const CALL_STATS_BYTES = 128;

/** A thread's counters of its peer reads, f64 each, written by that thread alone. */
export const PEER_STATS = {
  SERVED_BY_PEER: 0,
  SERVED_BY_FALLBACK: 8,
  ATTEMPTS: 16,
  /** Attempts that did not serve the read; cancelled ones aside. */
  MISSES: 24,
  /** Candidates that were passed over because their circuit was open. */
  OPEN: 32,
  CONNECT_TIMEOUTS: 40,
} as const;
export const PEER_STATS_BYTES = 64;

/** A thread's counters of circuits, f64 each, written by that thread alone. */
export const CIRCUIT_STATS = {
  /** Calls that an open circuit refused. */
  REFUSED: 0,
  /** By calls, by failed probes, and by hand. */
  OPENED: 8,
  CLOSED: 16,
  PROBES: 24,
  /** Probes that did not answer in time, found out by the call that took their place. */
  PROBES_LOST: 32,
  /** Results of calls that an earlier state of the circuit had admitted. */
  LATE: 40,
  /** Failures of addresses that there was no room for. */
  UNTRACKED: 48,
} as const;
export const CIRCUIT_STATS_BYTES = 64;

/** A thread's counters of pressure windows, f64 each, written by that thread alone; control clears `WAITING` when it has died. */
export const PRESSURE_STATS = {
  /** Signals that opened, changed or lifted a window. */
  SIGNALS: 0,
  /** Signals of buckets that there was no room for. */
  UNTRACKED: 8,
  /** Calls that were refused because the window would have lasted longer than their patience. */
  REFUSED: 16,
  /** Calls that wait now. */
  WAITING: 24,
} as const;
export const PRESSURE_STATS_BYTES = 64;

export const NAME_BYTES = 80;
export const RING_RECORDS = 256;
export const HEADER_BYTES = 2048;
const THREAD_HEADER_BYTES = 64;
const SCRATCH_BYTES = 64;

export interface Layout {
  readonly capacity: Capacity;
  readonly bytes: number;
  readonly quiescence: number;
  readonly directory: number;
  readonly circuits: number;
  name(rpcId: number): number;
  /** The bucket in force, or the shadow of the dry run. */
  bucket(rpcId: number, shadow: boolean): number;
  waits(rpcId: number, kind: 'host' | 'table' | 'dryRun'): number;
  /** Histogram of the waits for pressure windows. */
  readonly pressureWait: number;
  thread(place: number): ThreadLayout;
}

export interface ThreadLayout {
  readonly header: number;
  readonly scratch: number;
  /** Counters that nobody reads: a dry run grants nothing. */
  readonly shadowStats: number;
  readonly ring: number;
  /** See {@link PEER_STATS}. */
  readonly peers: number;
  /** See {@link CIRCUIT_STATS}. */
  readonly circuits: number;
  /** See {@link PRESSURE_STATS}. */
  readonly pressure: number;
  stats(rpcId: number, stage: 'host' | 'table'): number;
  /** See {@link CALL_STATS}. */
  calls(rpcId: number): number;
}

export function layOut(capacity: Capacity): Layout {
  const { threads, rpcs, pairs, addresses = 1 } = capacity;
  const names = HEADER_BYTES;
  const buckets = alignToLine(names + rpcs * NAME_BYTES);
  const waits = alignToLine(buckets + rpcs * 2 * BUCKET_BYTES);
  const histogram = alignToLine(histogramBytes());
  const pressureWait = alignToLine(waits + rpcs * 3 * histogram);
  const places = alignToLine(pressureWait + histogram);
  const peers = THREAD_HEADER_BYTES + SCRATCH_BYTES + STATS_BYTES;
  const circuitStats = peers + PEER_STATS_BYTES;
  const pressureStats = circuitStats + CIRCUIT_STATS_BYTES;
  const stats = pressureStats + PRESSURE_STATS_BYTES;
  const calls = stats + rpcs * 2 * STATS_BYTES;
  const ring = calls + rpcs * CALL_STATS_BYTES;
  const placeBytes = alignToLine(ring + ringBytes(RING_RECORDS));
  const quiescence = alignToLine(places + threads * placeBytes);
  const directory = alignToLine(quiescence + quiescenceBytes(threads));
  const circuits = alignToLine(directory + keyDirectoryBytes(pairs));
  const kinds = { host: 0, table: 1, dryRun: 2 } as const;
  return {
    capacity,
    bytes: alignToLine(circuits + circuitMemoryBytes(cellsFor(addresses))),
    quiescence,
    directory,
    circuits,
    name: (rpcId) => names + rpcId * NAME_BYTES,
    bucket: (rpcId, shadow) => buckets + (rpcId * 2 + (shadow ? 1 : 0)) * BUCKET_BYTES,
    waits: (rpcId, kind) => waits + (rpcId * 3 + kinds[kind]) * histogram,
    pressureWait,
    thread(place) {
      const header = places + place * placeBytes;
      return {
        header,
        scratch: header + THREAD_HEADER_BYTES,
        shadowStats: header + THREAD_HEADER_BYTES + SCRATCH_BYTES,
        ring: header + ring,
        peers: header + peers,
        circuits: header + circuitStats,
        pressure: header + pressureStats,
        stats: (rpcId, stage) =>
          header + stats + (rpcId * 2 + (stage === 'host' ? 0 : 1)) * STATS_BYTES,
        calls: (rpcId) => header + calls + rpcId * CALL_STATS_BYTES,
      };
    },
  };
}
