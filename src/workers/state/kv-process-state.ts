import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KvStoreStats } from '../kv/kv-store.js';
import type { RuntimeState } from './runtime-state.js';

/** The part of a store that its state is read from. */
export interface KvStateSource {
  stats(): KvStoreStats;
}

/** The state of a process that has key-value stores, by name, and no runtime. Each call reads it anew. */
export function createKvProcessState(
  stores: Readonly<Record<string, KvStateSource>>,
): () => RuntimeState {
  const runtimeId = randomUUID();
  const startedAt = new Date().toISOString();
  // The wall clock may step; times in between are by the monotonic one.
  const startedMs = performance.now();
  return () => ({
    schema: 1,
    backendId: null,
    runtimeId,
    pid: process.pid,
    hostname: hostname(),
    startedAt,
    now: new Date().toISOString(),
    atMs: performance.now() - startedMs,
    runtime: null,
    throttled: [],
    throttledTotal: 0,
    history: [],
    events: [],
    stores: Object.entries(stores).map(([name, store]) => ({ name, ...store.stats() })),
  });
}
