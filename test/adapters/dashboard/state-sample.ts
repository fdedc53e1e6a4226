/** States of a backend as the page gets them. */
import type {
  RecordedEvent,
  RuntimeState,
  ThrottledPair,
  ThrottleRecord,
} from '../../../src/workers/state/runtime-state.js';
import { snapshotSample } from '../snapshot-sample.js';

export const STARTED = '2026-03-01T00:00:00.000Z';

export function stateSample(atMs: number, parts: Partial<RuntimeState> = {}): RuntimeState {
  return {
    schema: 1,
    backendId: '10001',
    runtimeId: 'one',
    pid: 4711,
    hostname: 'be-1',
    startedAt: STARTED,
    now: new Date(Date.parse(STARTED) + atMs).toISOString(),
    atMs,
    runtime: snapshotSample(),
    throttled: [],
    throttledTotal: parts.throttled?.length ?? 0,
    history: [],
    events: [],
    stores: [],
    ...parts,
  };
}

export function pair(table: string, parts: Partial<ThrottledPair> = {}): ThrottledPair {
  return {
    rpc: 'commit_rowset',
    table,
    qpsLimit: 12,
    currentQps: 30,
    qpsBefore: 48,
    sinceMs: 1000,
    changedMs: 1000,
    steps: 1,
    ...parts,
  };
}

export function upgrade(
  seq: number,
  atMs: number,
  level: number,
  parts: Partial<ThrottleRecord> = {},
): ThrottleRecord {
  return {
    seq,
    atMs,
    kind: 'upgrade',
    level,
    reason: '412 BUSY in 3000 ms',
    cause: { kind: 'busy', count: 412, overMs: 3000 },
    changed: 1,
    changes: [{ rpc: 'commit_rowset', table: '10086', before: null, after: 12, qps: 48 }],
    ...parts,
  };
}

export function downgrade(
  seq: number,
  atMs: number,
  level: number,
  parts: Partial<ThrottleRecord> = {},
): ThrottleRecord {
  return {
    ...upgrade(seq, atMs, level),
    kind: 'downgrade',
    reason: 'quiet for 3000 ms',
    cause: { kind: 'quiet', forMs: 3000 },
    changes: [{ rpc: 'commit_rowset', table: '10086', before: 12, after: null, qps: null }],
    ...parts,
  };
}

export const configEvent = (seq: number, atMs: number): RecordedEvent => ({
  seq,
  atMs,
  name: 'config',
  event: { version: seq },
});
