import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BackendReading } from '../../src/cli/backend-watch.js';
import { asInt64 } from '../../src/cli/sql/int64.js';
import { postgresText } from '../../src/cli/sql/postgres-text.js';
import { rowsJson } from '../../src/cli/sql/system-schema.js';
import { type SystemTable, systemTables } from '../../src/cli/sql/system-tables.js';
import type { RuntimeState } from '../../src/workers/state/runtime-state.js';
import { stateSample } from '../adapters/dashboard/state-sample.js';
import { busyState, limit } from './scripted-backend.js';

function up(state: RuntimeState): BackendReading {
  return {
    url: `http://${state.backendId}`,
    answer: { kind: 'up', state, tookMs: 1.23456 },
    last: state,
    ageMs: 0,
  };
}

function table(name: string): SystemTable {
  const found = systemTables().find((one) => one.name === name);
  if (found === undefined) throw new Error(name);
  return found;
}

function rows(name: string, ...readings: BackendReading[]): unknown[] {
  return JSON.parse(rowsJson(table(name), readings));
}

describe('backend_ms_rpc_table_throttlers', () => {
  const name = 'backend_ms_rpc_table_throttlers';

  it('has the five columns of the design', () => {
    expect(table(name).columns).toEqual([
      { name: 'BE_ID', type: 'BIGINT' },
      { name: 'TABLE_ID', type: 'BIGINT' },
      { name: 'RPC_TYPE', type: 'VARCHAR(64)' },
      { name: 'QPS_LIMIT', type: 'DOUBLE PRECISION' },
      { name: 'CURRENT_QPS', type: 'DOUBLE PRECISION' },
    ]);
  });

  it('shows the pairs of all backends', () => {
    const [one, two] = [busyState('1', [limit('7'), limit('8')]), busyState('2', [limit('7')])];
    expect(rows(name, up(one), up(two))).toEqual([
      { be_id: '1', table_id: '7', rpc_type: 'COMMIT_ROWSET', qps_limit: 12, current_qps: 11.5 },
      { be_id: '1', table_id: '8', rpc_type: 'COMMIT_ROWSET', qps_limit: 12, current_qps: 11.5 },
      { be_id: '2', table_id: '7', rpc_type: 'COMMIT_ROWSET', qps_limit: 12, current_qps: 11.5 },
    ]);
  });

  it('shows all pairs, also beyond those that the state describes', () => {
    const limits = Array.from({ length: 1500 }, (_, i) => limit(String(i)));
    const state = { ...busyState('1', limits), throttled: [] };
    expect(rows(name, up(state))).toHaveLength(1500);
    expect(rows('backend_ms_rpc_table_throttler_keys', up(state))).toHaveLength(1500);
  });

  it.each([
    ['10086', '10086'],
    ['-5', '-5'],
    ['0', '0'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9223372036854775808', null],
    ['-9223372036854775809', null],
    ['007', null],
    ['-0', null],
    ['+7', null],
    [' 7', null],
    ['7\n', null],
    ['1e3', null],
    ['orders', null],
  ])('TABLE_ID of the key %j is %j', (key, id) => {
    expect(rows(name, up(busyState('1', [limit(key)])))).toMatchObject([{ table_id: id }]);
    expect(
      rows('backend_ms_rpc_table_throttler_keys', up(busyState('1', [limit(key)]))),
    ).toMatchObject([{ table_id: id, table_key: key }]);
  });

  it('cuts an RPC type at 64 characters, not through one', () => {
    const state = busyState('1', [limit('1', { rpc: `${'a'.repeat(63)}👩bc` })]);
    expect(rows(name, up(state))).toMatchObject([{ rpc_type: `${'A'.repeat(63)}👩` }]);
  });

  it('has no BE_ID when the backend has none', () => {
    expect(rows(name, up({ ...busyState('1', [limit('1')]), backendId: null }))).toMatchObject([
      { be_id: null },
    ]);
  });

  it('shows nothing of a backend that does not answer', () => {
    const last = busyState('1', [limit('1')]);
    const down: BackendReading = {
      url: 'http://x',
      answer: { kind: 'down', error: 'gone', tookMs: 1 },
      last,
      ageMs: 5000.04,
    };
    for (const one of systemTables()) {
      if (one.name !== 'backend_status') expect(rows(one.name, down)).toEqual([]);
    }
    expect(rows('backend_status', down)).toMatchObject([
      { url: 'http://x', be_id: '1', ok: false, error: 'gone', age_ms: 5000, throttled: '1' },
    ]);
    const many = { ...last, throttledTotal: 5000 };
    expect(rows('backend_status', up(many))).toMatchObject([{ throttled: '5000' }]);
  });
});

it('every table has a row for each thing that is going on', () => {
  const readings = [up(busyState('1', [limit('10086')]))];
  const all = Object.fromEntries(systemTables().map(({ name }) => [name, rows(name, ...readings)]));
  expect(all).toMatchObject({
    backend_ms_rpc_table_throttler_keys: [
      { qps_before: 48, steps: 1, throttled_since: '2026-03-01T00:00:01.000Z' },
    ],
    backend_host_rate_limits: [
      { rpc_type: 'COMMIT_ROWSET', calls: '5000', busy: '40', waits: '3', wait_seconds: 1.5 },
    ],
    backend_circuit_breakers: [
      { address: '10.0.0.1:8060', state: 'open', retry_after_ms: 4200, isolated: false },
    ],
    backend_kv_pressure: [
      { side: 'client', bucket: 'orders/1', pressure: 0.8, remaining_ms: 250, l0_files: null },
      { side: 'store', store: 'orders-store', table_name: 'orders', bucket: '1', l0_files: '9' },
    ],
    backend_throttle_history: [
      {
        seq: '1',
        kind: 'upgrade',
        level: 1,
        reason: '412 BUSY in 3000 ms',
        table_id: '10086',
        qps_before: null,
        qps_after: 12,
      },
    ],
    backend_status: [{ ok: true, error: null, took_ms: 1.2, config_version: '3', level: 1 }],
  });
});

it('a process without a runtime has only its stores', () => {
  const state = { ...busyState('1', [limit('1')]), runtime: null };
  expect(rows('backend_ms_rpc_table_throttlers', up(state))).toEqual([]);
  expect(rows('backend_kv_pressure', up(state))).toMatchObject([{ side: 'store' }]);
  expect(rows('backend_status', up(state))).toMatchObject([{ ok: true, level: null }]);
});

it('a change that moved no limit is a row of its own', () => {
  const { history } = busyState('1', []);
  expect(rows('backend_throttle_history', up(stateSample(9, { history })))).toMatchObject([
    { kind: 'upgrade', rpc_type: null, table_key: null, qps_after: null },
  ]);
});

it('rows are as wide as their table', () => {
  const readings = [up(busyState('1', [limit('1')]))];
  for (const { columns, rows: make } of systemTables()) {
    for (const row of make(readings)) expect(row).toHaveLength(columns.length);
  }
});

/** Whether Postgres takes `cell` as a value of `type`. */
function fits(cell: unknown, type: string): boolean {
  if (cell === null) return true;
  switch (type) {
    case 'INTEGER':
      return Number.isInteger(cell) && Math.abs(cell as number) < 2 ** 31;
    case 'BIGINT':
      return typeof cell === 'string' && asInt64(cell) === cell;
    case 'DOUBLE PRECISION':
      return Number.isFinite(cell);
    case 'BOOLEAN':
      return typeof cell === 'boolean';
    case 'TIMESTAMPTZ':
      return /^(?!0000)\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(cell));
    default:
      return typeof cell === 'string';
  }
}

it('no number and no time of a backend fails the query for all of them', () => {
  const any = fc.double({ noNaN: true, noDefaultInfinity: true });
  const when = fc.constantFrom(
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-03-01T00:00:00Z',
  );
  fc.assert(
    fc.property(any, when, (number, startedAt) => {
      const sample = JSON.stringify({ ...busyState('1', [limit('1')]), startedAt });
      const state = JSON.parse(sample, (_key, value) =>
        typeof value === 'number' ? number : value,
      ) as RuntimeState;
      for (const { columns, rows: make } of systemTables()) {
        for (const row of make([up(state)])) {
          for (const [i, { name, type }] of columns.entries())
            expect([name, row[i], fits(row[i], type)]).toEqual([name, row[i], true]);
        }
      }
    }),
    {
      examples: [
        [1.5, '2026-03-01T00:00:00Z'],
        [2 ** 31, '0000-01-01T00:00:00Z'],
      ],
    },
  );
});

it('text for Postgres holds no NUL and no half pair, and is otherwise the same', () => {
  expect(postgresText('a\0b\ud800c\udc00')).toBe('a\\u0000b\\ud800c\\udc00');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const whole = isWellFormed(text) && !text.includes('\0');
      return whole ? postgresText(text) === text : isWellFormed(postgresText(text));
    }),
  );
});

it('an int64 keeps its value', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 65n), 2n ** 65n), (value) => {
      const fits = BigInt.asIntN(64, value) === value;
      return asInt64(String(value)) === (fits ? String(value) : null);
    }),
  );
});

/** Whether no surrogate is alone. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
