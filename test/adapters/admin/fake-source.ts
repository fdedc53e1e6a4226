import type { AdminSource } from '../../../src/adapters/admin/admin-source.js';
import { ConfigConflictError } from '../../../src/shared/errors.js';
import { applyPatch } from '../../../src/workers/config/apply-patch.js';
import type { RuntimeOptions } from '../../../src/workers/config/options.js';
import { resolveConfig } from '../../../src/workers/config/resolve-config.js';
import type { RuntimeStatus } from '../../../src/workers/runtime-health.js';
import type { RecordedEvent, RuntimeState } from '../../../src/workers/state/runtime-state.js';
import { snapshotSample } from '../snapshot-sample.js';

export interface FakeSource extends AdminSource {
  status: RuntimeStatus;
  /** What its state says beside its events. */
  shown: Partial<RuntimeState>;
  /** Who listens to its events. */
  readonly listening: number;
  happen(version: number): void;
}

const KEPT = 1000;

/** A runtime without threads: its own rules of configuration, events and states that the test says. */
export function fakeSource(options: RuntimeOptions = { host: { rpcs: { a: {} } } }): FakeSource {
  const listeners = new Set<(event: RecordedEvent) => void>();
  let events: RecordedEvent[] = [];
  let lastSeq = 0;
  let inForce = { version: 1, config: resolveConfig(options, 1) };
  const source: FakeSource = {
    status: 'ok',
    shown: {},
    get listening() {
      return listeners.size;
    },
    get configVersion() {
      return inForce.version;
    },
    config: () => inForce.config,
    async updateConfig(patch, { ifVersion } = {}) {
      const { config, version } = inForce;
      if (ifVersion !== undefined && ifVersion !== version) {
        throw new ConfigConflictError(`version ${version} is in force`, { version });
      }
      inForce = { version: version + 1, config: applyPatch(config, patch, 1) };
      return { version: inForce.version };
    },
    health() {
      const { atMs, controlGeneration, conservation } = source.snapshot();
      return { status: source.status, atMs, controlGeneration, conservation };
    },
    snapshot: () => source.shown.runtime ?? snapshotSample(),
    state: ({ stores = {} } = {}) => ({
      schema: 1,
      backendId: null,
      runtimeId: 'fake',
      pid: 1,
      hostname: 'here',
      startedAt: new Date(0).toISOString(),
      now: new Date(5).toISOString(),
      atMs: 5,
      runtime: snapshotSample(),
      throttled: [],
      throttledTotal: 0,
      history: [],
      events,
      stores: Object.entries(stores).map(([name, store]) => ({ name, ...store.stats() })),
      ...source.shown,
    }),
    recordedEvents: (sinceSeq) => events.filter(({ seq }) => seq > sinceSeq),
    onRecorded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    happen(version) {
      lastSeq += 1;
      const event: RecordedEvent = { seq: lastSeq, atMs: 7, name: 'config', event: { version } };
      events = [...events, event].slice(-KEPT);
      for (const listener of listeners) listener(event);
    },
  };
  return source;
}
