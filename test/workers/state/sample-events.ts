import type {
  ControlEvent,
  RuntimeEventName,
  RuntimeEvents,
  ThrottleChange,
} from '../../../src/workers/runtime-events.js';

/** A change of `tables` tables of each of `rpcs`. */
export function throttleChange(rpcs: readonly string[], tables = 1): ThrottleChange {
  const pairs = rpcs.flatMap((rpc) =>
    Array.from({ length: tables }, (_, i) => ({ rpc, table: String(10_086 + i) })),
  );
  return {
    level: 2,
    actions: pairs.map((pair) => ({
      type: 'set_limit',
      ...pair,
      qpsLimit: 60,
      resetReservation: false,
    })),
    changes: pairs.map((pair) => ({ ...pair, before: 80, after: 60, qps: 81.5 })),
    changed: pairs.length,
    reason: { kind: 'busy', count: 412, overMs: 3000 },
    atMs: 5000,
  };
}

/** One event of each kind. */
export const SAMPLE_EVENTS: { readonly [Name in RuntimeEventName]: RuntimeEvents[Name] } = {
  upgrade: throttleChange(['write']),
  downgrade: { ...throttleChange(['write']), reason: { kind: 'quiet', forMs: 3000 } },
  lifted: { ...throttleChange(['write']), level: 0, reason: { kind: 'switched-off' } },
  'circuit-open': {
    address: '10.0.0.7:5000',
    reason: 'failures',
    failures: 3,
    retryAfterMs: 30_000,
    atMs: 1,
  },
  'circuit-half-open': { address: '10.0.0.7:5000', atMs: 2 },
  'circuit-closed': { address: '10.0.0.7:5000', reason: 'probed', atMs: 3 },
  config: { version: 2 },
  'thread-attached': { threads: 2, threadId: 7 },
  'thread-ended': { threads: 1, threadId: 7 },
  'control-restart': { generation: 2, restarts: 1, level: 3, reason: 'out of memory' },
  'kernel-fallback': { reason: 'no memory' },
  'directory-full': { used: 16_384, capacity: 16_384, calls: 12 },
  'addresses-full': { failures: 4 },
  'ring-drops': { records: 9, busy: 7, other: 2 },
  'calls-refused': { rpc: 'read', stage: 'host', refused: 250 },
  closed: {},
};

export function sampleEvents(): ControlEvent[] {
  return Object.entries(SAMPLE_EVENTS).map(([name, event]) => ({ name, event }) as ControlEvent);
}
