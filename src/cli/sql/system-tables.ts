/** The system tables: their columns, and the rows that backends make. docs/reference/cli.md lists the same. */
import type { BackendReading } from '../backend-watch.js';
import type { ShownRuntime, ShownState } from '../shown-state.js';
import { asInt64 } from './int64.js';
import { postgresText } from './postgres-text.js';

/** A BIGINT is a decimal string: it may be beyond what a JSON number holds. */
export type Cell = string | number | boolean | null;

export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface SystemTable {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly rows: (readings: readonly BackendReading[]) => Cell[][];
}

const BE_ID: Column = { name: 'BE_ID', type: 'BIGINT' };
const TABLE_ID: Column = { name: 'TABLE_ID', type: 'BIGINT' };
const RPC_TYPE: Column = { name: 'RPC_TYPE', type: 'VARCHAR(64)' };
const TABLE_KEY = text('TABLE_KEY');

/** In the order in which the reference lists them. */
export function systemTables(): readonly SystemTable[] {
  return [
    {
      name: 'backend_ms_rpc_table_throttlers',
      columns: [BE_ID, TABLE_ID, RPC_TYPE, double('QPS_LIMIT'), double('CURRENT_QPS')],
      rows: ofRuntimes((runtime, state) =>
        runtime.limits.map(({ rpc, table, qpsLimit, currentQps }) => [
          beId(state),
          asInt64(table),
          rpcType(rpc),
          qpsLimit,
          currentQps,
        ]),
      ),
    },
    {
      name: 'backend_ms_rpc_table_throttler_keys',
      columns: [
        BE_ID,
        TABLE_ID,
        TABLE_KEY,
        RPC_TYPE,
        double('QPS_LIMIT'),
        double('CURRENT_QPS'),
        double('QPS_BEFORE'),
        integer('STEPS'),
        time('THROTTLED_SINCE'),
        time('CHANGED_AT'),
      ],
      rows: ofRuntimes((runtime, state) => {
        const known = new Map(state.throttled.map((pair) => [`${pair.rpc}\0${pair.table}`, pair]));
        return runtime.limits.map(({ rpc, table, qpsLimit, currentQps, sinceMs }) => {
          const pair = known.get(`${rpc}\0${table}`);
          return [
            beId(state),
            asInt64(table),
            postgresText(table),
            rpcType(rpc),
            qpsLimit,
            currentQps,
            pair?.qpsBefore ?? null,
            int32(pair?.steps),
            wallClock(state, sinceMs),
            wallClock(state, pair?.changedMs ?? null),
          ];
        });
      }),
    },
    {
      name: 'backend_host_rate_limits',
      columns: [
        BE_ID,
        RPC_TYPE,
        double('QPS_LIMIT'),
        double('BURST'),
        bigint('CALLS'),
        bigint('BUSY'),
        bigint('RETRIES'),
        bigint('GRANTED'),
        bigint('SPENT'),
        bigint('RETURNED'),
        bigint('LOST'),
        bigint('REFUSED'),
        bigint('WAITS'),
        double('WAIT_SECONDS'),
        bigint('THROTTLED_TABLES'),
      ],
      rows: ofRuntimes((runtime, state) =>
        runtime.rpcs.map((rpc) => [
          beId(state),
          rpcType(rpc.rpc),
          rpc.qpsLimit,
          rpc.burst,
          count(rpc.calls),
          count(rpc.busy),
          count(rpc.retries),
          count(rpc.granted),
          count(rpc.spent),
          count(rpc.returned),
          count(rpc.lost),
          count(rpc.refused),
          count(rpc.hostWait.count),
          rpc.hostWait.sumNs / 1e9,
          count(rpc.throttledTables),
        ]),
      ),
    },
    {
      name: 'backend_circuit_breakers',
      columns: [
        BE_ID,
        text('ADDRESS'),
        text('STATE'),
        { name: 'ISOLATED', type: 'BOOLEAN' },
        bigint('CONSECUTIVE_FAILURES'),
        double('RETRY_AFTER_MS'),
      ],
      rows: ofRuntimes((runtime, state) =>
        runtime.circuits.map((circuit) => [
          beId(state),
          postgresText(circuit.address),
          circuit.state,
          circuit.isolated,
          count(circuit.consecutiveFailures),
          circuit.retryAfterMs,
        ]),
      ),
    },
    {
      name: 'backend_kv_pressure',
      columns: [
        BE_ID,
        text('SIDE'),
        text('STORE'),
        text('TABLE_NAME'),
        text('BUCKET'),
        double('PRESSURE'),
        double('REMAINING_MS'),
        bigint('L0_FILES'),
        bigint('PENDING_BYTES'),
        bigint('PRE_WRITE_ENTRIES'),
      ],
      rows: ofStates((state) => [
        ...(state.runtime?.pressure ?? []).map(({ bucket, pressure, remainingMs }): Cell[] => {
          const named = postgresText(bucket);
          return [
            beId(state),
            'client',
            null,
            null,
            named,
            pressure,
            remainingMs,
            null,
            null,
            null,
          ];
        }),
        ...state.stores.flatMap(({ name, tables }) =>
          tables.flatMap(({ table, buckets }) =>
            buckets.map((bucket): Cell[] => [
              beId(state),
              'store',
              postgresText(name),
              postgresText(table),
              String(bucket.bucket),
              bucket.pressure,
              null,
              count(bucket.l0Files),
              count(bucket.pendingBytes),
              count(bucket.preWriteEntries),
            ]),
          ),
        ),
      ]),
    },
    {
      name: 'backend_throttle_history',
      columns: [
        BE_ID,
        bigint('SEQ'),
        time('CHANGED_AT'),
        text('KIND'),
        integer('LEVEL'),
        text('REASON'),
        RPC_TYPE,
        TABLE_ID,
        TABLE_KEY,
        double('QPS_BEFORE'),
        double('QPS_AFTER'),
      ],
      rows: ofStates((state) =>
        state.history.flatMap(({ seq, atMs, kind, level, reason, changes }) => {
          const at = wallClock(state, atMs);
          const head = [beId(state), count(seq), at, kind, int32(level), postgresText(reason)];
          if (changes.length === 0) return [[...head, null, null, null, null, null]];
          return changes.map(({ rpc, table, before, after }) => [
            ...head,
            rpcType(rpc),
            asInt64(table),
            postgresText(table),
            before,
            after,
          ]);
        }),
      ),
    },
    {
      name: 'backend_status',
      columns: [
        text('URL'),
        BE_ID,
        { name: 'OK', type: 'BOOLEAN' },
        text('ERROR'),
        double('AGE_MS'),
        double('TOOK_MS'),
        bigint('CONFIG_VERSION'),
        integer('LEVEL'),
        integer('THREADS'),
        bigint('THROTTLED'),
        text('RUNTIME_ID'),
        text('HOSTNAME'),
        bigint('PID'),
        time('STARTED_AT'),
      ],
      rows: (readings) =>
        readings.map(({ url, answer, last, ageMs }) => [
          postgresText(url),
          last === undefined ? null : beId(last),
          answer.kind === 'up',
          answer.kind === 'up' ? null : postgresText(answer.error),
          ageMs === undefined ? null : tenth(ageMs),
          tenth(answer.tookMs),
          ...(last?.runtime
            ? [
                count(last.runtime.configVersion),
                int32(last.runtime.level),
                int32(last.runtime.threads),
                count(last.throttledTotal),
              ]
            : [null, null, null, null]),
          ...(last === undefined
            ? [null, null, null, null]
            : [
                postgresText(last.runtimeId),
                postgresText(last.hostname),
                count(last.pid),
                wallClock(last, 0),
              ]),
        ]),
    },
  ];
}

function text(name: string): Column {
  return { name, type: 'TEXT' };
}

function double(name: string): Column {
  return { name, type: 'DOUBLE PRECISION' };
}

function bigint(name: string): Column {
  return { name, type: 'BIGINT' };
}

function integer(name: string): Column {
  return { name, type: 'INTEGER' };
}

function time(name: string): Column {
  return { name, type: 'TIMESTAMPTZ' };
}

/** Of all backends that answered. */
function ofStates(rows: (state: ShownState) => Cell[][]): SystemTable['rows'] {
  return (readings) =>
    readings.flatMap(({ answer }) => (answer.kind === 'up' ? rows(answer.state) : []));
}

function ofRuntimes(
  rows: (runtime: ShownRuntime, state: ShownState) => Cell[][],
): SystemTable['rows'] {
  return ofStates((state) => (state.runtime === null ? [] : rows(state.runtime, state)));
}

function beId({ backendId }: ShownState): string | null {
  return asInt64(backendId);
}

/** Upper-cased as the seed has it, and cut at what the column holds. */
function rpcType(rpc: string): string {
  return [...postgresText(rpc.toUpperCase())].slice(0, 64).join('');
}

/** A total that went through floating point is still an integer, and BIGINT takes no other. */
function count(value: number): string | null {
  return asInt64(BigInt(Math.trunc(value)).toString());
}

/** One number that a column cannot hold would fail the query for all backends: it is NULL. */
function int32(value: number | undefined): number | null {
  if (value === undefined) return null;
  const whole = Math.trunc(value);
  return whole === (whole | 0) ? whole : null;
}

/** A time of the backend on its own wall clock; null for one that Postgres may not be able to read. */
function wallClock({ startedAt }: ShownState, ms: number | null): string | null {
  if (ms === null) return null;
  const at = new Date(Date.parse(startedAt) + ms);
  return at >= FIRST_TIME && at <= LAST_TIME ? at.toISOString() : null;
}

/** Years of four digits; there was no year 0. */
const FIRST_TIME = new Date('0001-01-01T00:00:00Z');
const LAST_TIME = new Date('9999-12-31T23:59:59.999Z');

function tenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}
