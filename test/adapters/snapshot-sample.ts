import type {
  HistogramSnapshot,
  RpcSnapshot,
  RuntimeSnapshot,
} from '../../src/workers/snapshot.js';

export const NO_WAITS: HistogramSnapshot = { count: 0, sumNs: 0, buckets: [] };

export function rpcSample(rpc: string, parts: Partial<RpcSnapshot> = {}): RpcSnapshot {
  return {
    rpc,
    qpsLimit: 0,
    burst: 0,
    granted: 0,
    spent: 0,
    returned: 0,
    lost: 0,
    refused: 0,
    calls: 0,
    busy: 0,
    outcomes: { success: 0, failure: 0, refused: 0, ignored: 0 },
    retries: 0,
    retriesDenied: 0,
    timeouts: 0,
    deadlines: 0,
    late: 0,
    classifierFaults: 0,
    hostWait: NO_WAITS,
    tableWait: NO_WAITS,
    dryRunWaitMs: 0,
    throttledTables: 0,
    waiting: { host: 0, table: 0 },
    ...parts,
  };
}

export function snapshotSample(parts: Partial<RuntimeSnapshot> = {}): RuntimeSnapshot {
  return {
    atMs: 5,
    configVersion: 1,
    level: 0,
    controlGeneration: 1,
    controlRestarts: 0,
    controlSilentMs: 0,
    threads: 1,
    limits: [],
    directory: { used: 0, capacity: 16_384, overflow: 0 },
    ringDrops: { busy: 0, circuit: 0 },
    rpcs: [rpcSample('commit_rowset')],
    peerReads: {
      servedByPeer: 0,
      servedByFallback: 0,
      attempts: 0,
      misses: 0,
      open: 0,
      connectTimeouts: 0,
    },
    throttle: {
      upgrades: 0,
      downgrades: 0,
      busy: 0,
      upgrades60s: 0,
      downgrades60s: 0,
      busy60s: 0,
    },
    circuits: [],
    breaker: {
      tracked: 0,
      closed: 0,
      open: 0,
      halfOpen: 0,
      refused: 0,
      opened: 0,
      recovered: 0,
      probes: 0,
      probesLost: 0,
      late: 0,
      untracked: 0,
      evicted: 0,
    },
    actors: { failures: 0, overflows: 0, undelivered: 0 },
    maxLagMs: 0,
    conservation: { ok: true, granted: 0, spent: 0, returned: 0, lost: 0, held: 0 },
    ...parts,
  };
}
