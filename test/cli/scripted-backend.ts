/** A backend whose `/state` is what the test says. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LimitSnapshot } from '../../src/workers/snapshot.js';
import type { RuntimeState } from '../../src/workers/state/runtime-state.js';
import { pair, stateSample, upgrade } from '../adapters/dashboard/state-sample.js';
import { startHttpService } from '../adapters/loopback-http.js';
import { rpcSample, snapshotSample } from '../adapters/snapshot-sample.js';

export interface ScriptedBackend {
  readonly url: string;
  state: RuntimeState;
  /** Takes the place of the state. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** How often it was asked. */
  asked: number;
  stop(): Promise<void>;
}

export async function startBackend(state: RuntimeState): Promise<ScriptedBackend> {
  const service = await startHttpService();
  const backend: ScriptedBackend = {
    url: service.origin,
    state,
    answer: undefined,
    asked: 0,
    stop: () => service.stop(),
  };
  service.answer = (request, response) => {
    backend.asked += 1;
    if (backend.answer !== undefined) {
      backend.answer(request, response);
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(backend.state));
  };
  return backend;
}

export function limit(table: string, parts: Partial<LimitSnapshot> = {}): LimitSnapshot {
  return { rpc: 'commit_rowset', table, qpsLimit: 12, currentQps: 11.5, sinceMs: 1000, ...parts };
}

/** A backend of id `backendId` at whose 60th second something of everything is going on. */
export function busyState(backendId: string, limits: readonly LimitSnapshot[]): RuntimeState {
  return stateSample(60_000, {
    backendId,
    runtimeId: `runtime-${backendId}`,
    runtime: snapshotSample({
      level: 1,
      configVersion: 3,
      threads: 4,
      limits,
      rpcs: [
        rpcSample('commit_rowset', {
          qpsLimit: 100,
          burst: 20,
          calls: 5000,
          busy: 40,
          granted: 5100,
          spent: 5000,
          refused: 7,
          hostWait: { count: 3, sumNs: 1.5e9, buckets: [] },
          throttledTables: limits.length,
        }),
      ],
      circuits: [
        {
          address: '10.0.0.1:8060',
          state: 'open',
          isolated: false,
          consecutiveFailures: 3,
          retryAfterMs: 4200,
        },
      ],
      pressure: [{ bucket: 'orders/1', pressure: 0.8, remainingMs: 250 }],
    }),
    throttled: limits.map(({ rpc, table }) => pair(table, { rpc })),
    history: [
      upgrade(1, 50_000, 1, {
        changed: limits.length,
        changes: limits.map(({ rpc, table, qpsLimit }) => ({
          rpc,
          table,
          before: null,
          after: qpsLimit,
          qps: 48,
        })),
      }),
    ],
    stores: [
      {
        name: 'orders-store',
        logBytes: 0,
        tables: [
          {
            table: 'orders',
            maxPressure: 0.3,
            rejections: 2,
            records: 0,
            bytes: 0,
            flushes: { count: 0, sumNs: 0, buckets: [] },
            flushedRecords: 0,
            flushRetries: 0,
            pendingBytes: 1234,
            preWriteEntries: 5,
            maxL0Files: 9,
            buckets: [
              { bucket: 1, pressure: 0.3, l0Files: 9, pendingBytes: 1234, preWriteEntries: 5 },
            ],
          },
        ],
      },
    ],
  });
}

/** Names that callers of a service may give to tables, each hard on somebody. */
export const HOSTILE_NAMES: readonly string[] = [
  `O'Brien "quoted" \\ back`,
  'line\nbreak\r\ttab',
  '<script>alert(1)</script>&amp;',
  'x'.repeat(10_240),
  '👩‍💻🔥 emoji',
  'nul\0byte',
  'lone\ud800half',
  '\u001b[31mred\u001b]0;title\u0007',
  'bidi\u202etxt\u2066',
  "'; DROP TABLE x; --",
  '漢字テーブル',
  '{"json": [1]}',
];
