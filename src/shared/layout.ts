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
 *    192  4 x 64  settings: f64 config version, f64 maxWaitMs, f64 maxWaiters, u32 flags. Written while not in force
 *    448  f64 x 16  totals of the throttle, see {@link TOTALS}. Control
 *    576  f64  largest lag of the coarse clock that was seen, ns. Control
 *   1024  rpc names   rpcs x 80: u8 length, u8 marks (control), 64 bytes of ASCII, written before the count
 *      -  buckets     rpcs x 2 x BUCKET_BYTES: in force, and shadow (dry run). Kernel
 *      -  waits       rpcs x 3 histograms: waits at the host bucket, at table limits, and what dry runs would have waited
 *      -  threads     per place: header (64), scratch (64), counters of dry runs (64), rpcs x 2 x 64 counters (host, table), ring
 *      -  quiescence  of the attached threads, see quiescence.ts
 *      -  directory   of (rpc, table) pairs
 */

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
  TOTALS: 448,
  MAX_LAG: 576,
} as const;

/** Within a settings block. */
export const SETTINGS = { VERSION: 0, MAX_WAIT_MS: 8, MAX_WAITERS: 16, FLAGS: 24 } as const;
export const SETTINGS_BYTES = 64;

/** Bits of an RPC type's marks, beside its name. */
export const MARK = { COARSE: 1, LOAD_RELATED: 2 } as const;

/** Bits of a settings block's flags. */
export const FLAG = { HOST: 1, HOST_DRY_RUN: 2, TABLES: 4, TABLES_DRY_RUN: 8 } as const;

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

export const NAME_BYTES = 80;
export const RING_RECORDS = 256;
const HEADER_BYTES = 1024;
const THREAD_HEADER_BYTES = 64;
const SCRATCH_BYTES = 64;

export interface Layout {
  readonly capacity: Capacity;
  readonly bytes: number;
  readonly quiescence: number;
  readonly directory: number;
  name(rpcId: number): number;
  /** The bucket in force, or the shadow of the dry run. */
  bucket(rpcId: number, shadow: boolean): number;
  waits(rpcId: number, kind: 'host' | 'table' | 'dryRun'): number;
  thread(place: number): ThreadLayout;
}

export interface ThreadLayout {
  readonly header: number;
  readonly scratch: number;
  /** Counters that nobody reads: a dry run grants nothing. */
  readonly shadowStats: number;
  readonly ring: number;
  stats(rpcId: number, stage: 'host' | 'table'): number;
}

const align = (offset: number): number => Math.ceil(offset / 64) * 64;

export function layOut(capacity: Capacity): Layout {
  const { threads, rpcs, pairs } = capacity;
  const names = HEADER_BYTES;
  const buckets = align(names + rpcs * NAME_BYTES);
  const waits = align(buckets + rpcs * 2 * BUCKET_BYTES);
  const histogram = align(histogramBytes());
  const places = align(waits + rpcs * 3 * histogram);
  const stats = THREAD_HEADER_BYTES + SCRATCH_BYTES + STATS_BYTES;
  const ring = stats + rpcs * 2 * STATS_BYTES;
  const placeBytes = align(ring + ringBytes(RING_RECORDS));
  const quiescence = align(places + threads * placeBytes);
  const directory = align(quiescence + quiescenceBytes(threads));
  const kinds = { host: 0, table: 1, dryRun: 2 } as const;
  return {
    capacity,
    bytes: align(directory + keyDirectoryBytes(pairs)),
    quiescence,
    directory,
    name: (rpcId) => names + rpcId * NAME_BYTES,
    bucket: (rpcId, shadow) => buckets + (rpcId * 2 + (shadow ? 1 : 0)) * BUCKET_BYTES,
    waits: (rpcId, kind) => waits + (rpcId * 3 + kinds[kind]) * histogram,
    thread(place) {
      const header = places + place * placeBytes;
      return {
        header,
        scratch: header + THREAD_HEADER_BYTES,
        shadowStats: header + THREAD_HEADER_BYTES + SCRATCH_BYTES,
        ring: header + ring,
        stats: (rpcId, stage) =>
          header + stats + (rpcId * 2 + (stage === 'host' ? 0 : 1)) * STATS_BYTES,
      };
    },
  };
}
