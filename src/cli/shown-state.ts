/** What the commands read of a backend's `/state`; the rest of it may be of any form. */
import { z } from 'zod';
import type { LimitMove } from '../actors/throttle/limit-move.js';
import type { KvBucketStats } from '../workers/kv/kv-meters.js';
import type {
  CircuitSnapshot,
  LimitSnapshot,
  PressureSnapshot,
  RpcSnapshot,
  RuntimeSnapshot,
} from '../workers/snapshot.js';
import type {
  RuntimeState,
  ThrottledPair,
  ThrottleRecord,
} from '../workers/state/runtime-state.js';

export interface ShownState
  extends Pick<
    RuntimeState,
    'backendId' | 'runtimeId' | 'pid' | 'hostname' | 'startedAt' | 'now' | 'atMs' | 'throttledTotal'
  > {
  readonly runtime: ShownRuntime | null;
  readonly throttled: readonly ShownPair[];
  readonly history: readonly ShownRecord[];
  readonly stores: readonly ShownStore[];
}

export interface ShownRuntime extends Pick<RuntimeSnapshot, 'configVersion' | 'level' | 'threads'> {
  readonly dryRun: Pick<RuntimeSnapshot['dryRun'], 'tables'>;
  readonly limits: readonly ShownLimit[];
  readonly pressure: readonly ShownWindow[];
  readonly rpcs: readonly ShownRpc[];
  readonly circuits: readonly ShownCircuit[];
}

export type ShownLimit = Pick<
  LimitSnapshot,
  'rpc' | 'table' | 'qpsLimit' | 'currentQps' | 'sinceMs'
>;

export type ShownWindow = Pick<PressureSnapshot, 'bucket' | 'pressure' | 'remainingMs'>;

export type ShownCircuit = Pick<
  CircuitSnapshot,
  'address' | 'state' | 'isolated' | 'consecutiveFailures' | 'retryAfterMs'
>;

export type ShownPair = Pick<ThrottledPair, 'rpc' | 'table' | 'qpsBefore' | 'changedMs' | 'steps'>;

export interface ShownRecord
  extends Pick<ThrottleRecord, 'seq' | 'atMs' | 'kind' | 'level' | 'reason' | 'changed'> {
  readonly changes: readonly Pick<LimitMove, 'rpc' | 'table' | 'before' | 'after'>[];
}

export type ShownBucket = Pick<
  KvBucketStats,
  'bucket' | 'pressure' | 'l0Files' | 'pendingBytes' | 'preWriteEntries'
>;

export interface ShownRpc
  extends Pick<
    RpcSnapshot,
    | 'rpc'
    | 'qpsLimit'
    | 'burst'
    | 'granted'
    | 'spent'
    | 'returned'
    | 'lost'
    | 'refused'
    | 'calls'
    | 'busy'
    | 'retries'
    | 'throttledTables'
  > {
  readonly hostWait: { readonly count: number; readonly sumNs: number };
}

export interface ShownStore {
  readonly name: string;
  readonly tables: readonly ShownKvTable[];
}

export interface ShownKvTable {
  readonly table: string;
  readonly rejections: number;
  readonly buckets: readonly ShownBucket[];
}

/** Made once a process: building it takes a while, and an import must do nothing. */
function stateSchema(): z.ZodType<ShownState> {
  const rate = z.number().nullable();
  const wait = z.object({ count: z.number(), sumNs: z.number() });
  const limit = z.object({
    rpc: z.string(),
    table: z.string(),
    qpsLimit: z.number(),
    currentQps: z.number(),
    sinceMs: z.number(),
  });
  const rpc = z.object({
    rpc: z.string(),
    qpsLimit: z.number(),
    burst: z.number(),
    granted: z.number(),
    spent: z.number(),
    returned: z.number(),
    lost: z.number(),
    refused: z.number(),
    calls: z.number(),
    busy: z.number(),
    retries: z.number(),
    throttledTables: z.number(),
    hostWait: wait,
  });
  const circuit = z.object({
    address: z.string(),
    state: z.enum(['closed', 'open', 'half_open']),
    isolated: z.boolean(),
    consecutiveFailures: z.number(),
    retryAfterMs: z.number(),
  });
  const runtime = z.object({
    configVersion: z.number(),
    level: z.number(),
    threads: z.number(),
    dryRun: z.object({ tables: z.boolean() }),
    limits: z.array(limit),
    pressure: z.array(
      z.object({ bucket: z.string(), pressure: z.number(), remainingMs: z.number() }),
    ),
    rpcs: z.array(rpc),
    circuits: z.array(circuit),
  });
  const change = z.object({ rpc: z.string(), table: z.string(), before: rate, after: rate });
  const record = z.object({
    seq: z.number(),
    atMs: z.number(),
    kind: z.enum(['upgrade', 'downgrade', 'lifted']),
    level: z.number(),
    reason: z.string(),
    changed: z.number(),
    changes: z.array(change),
  });
  const pair = z.object({
    rpc: z.string(),
    table: z.string(),
    qpsBefore: rate,
    changedMs: rate,
    steps: z.number(),
  });
  const bucket = z.object({
    bucket: z.number(),
    pressure: z.number(),
    l0Files: z.number(),
    pendingBytes: z.number(),
    preWriteEntries: z.number(),
  });
  const table = z.object({ table: z.string(), rejections: z.number(), buckets: z.array(bucket) });
  return z.object({
    schema: z.literal(1),
    backendId: z.string().nullable(),
    runtimeId: z.string(),
    pid: z.number(),
    hostname: z.string(),
    startedAt: z.iso.datetime(),
    now: z.iso.datetime(),
    atMs: z.number(),
    runtime: runtime.nullable(),
    throttled: z.array(pair),
    throttledTotal: z.number(),
    history: z.array(record),
    stores: z.array(z.object({ name: z.string(), tables: z.array(table) })),
  });
}

/** Checks states that others send. */
export class StateReader {
  readonly #schema: z.ZodType<ShownState> = stateSchema();

  /** @throws Error that names the first field that is wrong. */
  read(json: unknown): ShownState {
    const { success, data, error } = this.#schema.safeParse(json);
    if (success) return data;
    const [issue] = error.issues;
    const field = issue?.path.map(String).join('.') ?? '';
    throw new Error(
      `not a state that this version knows: ${field === '' ? '' : `${field}: `}${issue?.message ?? ''}`,
    );
  }
}
