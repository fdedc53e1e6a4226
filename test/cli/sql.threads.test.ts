import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresText } from '../../src/cli/sql/postgres-text.js';
import { systemTables } from '../../src/cli/sql/system-tables.js';
import { stateSample } from '../adapters/dashboard/state-sample.js';
import { pause } from '../threads/until.js';
import {
  type Outcome,
  psql,
  runCommand,
  type SqlServer,
  startSqlServer,
} from './command-process.js';
import {
  busyState,
  HOSTILE_NAMES,
  limit,
  type ScriptedBackend,
  startBackend,
} from './scripted-backend.js';
import { connectWire, type WireClient } from './wire-client.js';

// Real psql against the real command, in front of backends whose state is scripted.

const ONE = busyState('10001', [
  limit('10086', { qpsLimit: 12, currentQps: 11.5 }),
  limit('orders', { qpsLimit: 3, currentQps: 2.5, rpc: 'get_version' }),
]);
const TWO = busyState('10002', [limit('10010', { qpsLimit: 7.25, currentQps: 7 })]);
const DEAD = 'http://127.0.0.1:9';

let one: ScriptedBackend;
let two: ScriptedBackend;
let server: SqlServer;
let client: WireClient;

beforeAll(async () => {
  [one, two] = await Promise.all([startBackend(ONE), startBackend(TWO)]);
  // 127.0.0.1:9 is the discard port: nobody listens there.
  server = await startSqlServer([
    '--backends',
    `${one.url},${two.url},${DEAD}`,
    '--query-timeout-ms',
    '20000',
  ]);
  client = await connectWire(server.port);
}, 120_000);

afterAll(async () => {
  await client.close();
  expect(await server.stop()).toBe(0);
  await Promise.all([one.stop(), two.stop()]);
});

beforeEach(() => {
  one.state = ONE;
  two.state = TWO;
});

function ask(...commands: string[]): Promise<Outcome> {
  return psql(server.port, commands);
}

async function rows(...commands: string[]): Promise<string[]> {
  const { stdout, stderr, code } = await ask(...commands);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  return stdout.split('\n').filter((line) => line !== '');
}

const TABLE = 'information_schema.backend_ms_rpc_table_throttlers';

describe('the examples of the system table', () => {
  it('all throttled tables', async () => {
    expect(await rows(`SELECT * FROM ${TABLE}`)).toEqual([
      '10001|10086|COMMIT_ROWSET|12|11.5',
      '10001||GET_VERSION|3|2.5',
      '10002|10010|COMMIT_ROWSET|7.25|7',
    ]);
  });

  it('those of one backend', async () => {
    expect(await rows(`SELECT * FROM ${TABLE} WHERE BE_ID = 10002`)).toEqual([
      '10002|10010|COMMIT_ROWSET|7.25|7',
    ]);
  });

  it('the most severely throttled first', async () => {
    const sql = `SELECT TABLE_ID, RPC_TYPE, QPS_LIMIT, CURRENT_QPS FROM ${TABLE} ORDER BY QPS_LIMIT ASC`;
    expect(await rows(sql)).toEqual([
      '|GET_VERSION|3|2.5',
      '10010|COMMIT_ROWSET|7.25|7',
      '10086|COMMIT_ROWSET|12|11.5',
    ]);
  });
});

describe('SQL', () => {
  it('joins, aggregates, and finds the tables without a schema', async () => {
    const sql = `SELECT s.url, count(*), sum(t.qps_limit)
      FROM backend_ms_rpc_table_throttlers t JOIN spillway.backend_status s USING (be_id)
      GROUP BY 1 ORDER BY 2 DESC`;
    expect(await rows(sql)).toEqual([`${one.url}|2|15`, `${two.url}|1|7.25`]);
  });

  it('every table says what is going on', async () => {
    const first = async (sql: string): Promise<string | undefined> => {
      const { results } = await client.ask(sql);
      return results[0]?.rows[0]?.map((cell) => cell ?? '').join('|');
    };
    const seen = {
      keys: await first(
        'SELECT be_id, table_key, qps_before, steps FROM backend_ms_rpc_table_throttler_keys',
      ),
      hosts: await first(
        'SELECT rpc_type, qps_limit, busy, wait_seconds FROM backend_host_rate_limits',
      ),
      circuits: await first('SELECT address, state, retry_after_ms FROM backend_circuit_breakers'),
      pressure: await first('SELECT side, bucket, pressure, l0_files FROM backend_kv_pressure'),
      history: await first(
        'SELECT kind, reason, table_key, qps_before, qps_after, changed_at FROM backend_throttle_history',
      ),
      status: await first('SELECT be_id, ok, config_version, level, throttled FROM backend_status'),
    };
    expect(seen).toEqual({
      keys: '10001|10086|48|1',
      hosts: 'COMMIT_ROWSET|100|40|1.5',
      circuits: '10.0.0.1:8060|open|4200',
      pressure: 'client|orders/1|0.8|',
      history: 'upgrade|412 BUSY in 3000 ms|10086||12|2026-03-01 00:00:50+00',
      status: '10001|t|3|1|2',
    });
  });

  it('describes its tables', async () => {
    const columns = await rows(`\\d ${TABLE}`);
    expect(columns.map((line) => line.split('|').slice(0, 2))).toEqual([
      ['be_id', 'bigint'],
      ['table_id', 'bigint'],
      ['rpc_type', 'character varying(64)'],
      ['qps_limit', 'double precision'],
      ['current_qps', 'double precision'],
    ]);
    const views = await rows('\\dv spillway.*');
    expect(views.map((line) => line.split('|')[1]).sort()).toEqual(
      systemTables()
        .map(({ name }) => name)
        .sort(),
    );
  });

  it('has the columns that the code lists, in both schemas', async () => {
    for (const { name, columns } of systemTables()) {
      for (const schema of ['information_schema', 'spillway']) {
        const { results } = await client.ask(`SELECT column_name FROM information_schema.columns
          WHERE table_schema = '${schema}' AND table_name = '${name}' ORDER BY ordinal_position`);
        expect(results[0]?.rows.flat()).toEqual(columns.map((column) => column.name.toLowerCase()));
      }
    }
  });

  it('prepares statements', async () => {
    const prepare = `PREPARE p AS SELECT count(*) FROM ${TABLE} WHERE be_id = $1`;
    expect(await rows(prepare, 'EXECUTE p(10001)', 'EXECUTE p(10002)')).toEqual(['2', '1']);
  });

  it('copies out', async () => {
    expect(await rows(`COPY (SELECT be_id FROM ${TABLE} ORDER BY 1) TO STDOUT`)).toEqual([
      '10001',
      '10001',
      '10002',
    ]);
  });

  it('serves several psql at a time', async () => {
    const asked = [1, 2, 3].map((n) =>
      rows(
        `SET application_name = 'n${n}'`,
        `SELECT current_setting('application_name'), count(*) FROM ${TABLE}`,
      ),
    );
    expect(await Promise.all(asked)).toEqual([['n1|3'], ['n2|3'], ['n3|3']]);
  });
});

describe('backends', () => {
  it('one that does not answer is named, and fails nothing', async () => {
    expect(await rows('SELECT url, ok, error, be_id FROM backend_status WHERE NOT ok')).toEqual([
      expect.stringMatching(new RegExp(`^${DEAD}\\|f\\|.+\\|$`)),
    ]);
    two.answer = (request) => request.socket.destroy();
    const sql = `SELECT (SELECT count(*) FROM ${TABLE}), (SELECT count(*) FROM backend_status WHERE ok)`;
    expect(await rows(sql)).toEqual(['2|1']);
    expect(
      await rows(
        'SELECT be_id, age_ms > 0 FROM backend_status WHERE NOT ok AND age_ms IS NOT NULL',
      ),
    ).toEqual(['10002|t']);
    two.answer = undefined;
  });

  it('rows are those of now, at each statement', async () => {
    const count = `SELECT count(*) FROM ${TABLE}`;
    expect(await rows(count)).toEqual(['3']);
    one.state = stateSample(70_000, { backendId: '10001' });
    expect(await rows(count)).toEqual(['1']);
  });

  it('is asked once for a query, and not at all for none', async () => {
    const before = one.asked;
    await rows(`SELECT count(*) FROM ${TABLE} a, ${TABLE} b, backend_status`);
    expect(one.asked).toBe(before + 1);
    await rows('BEGIN', 'SET TRANSACTION READ ONLY', 'COMMIT', 'SHOW search_path');
    expect(one.asked).toBe(before + 1);
  });
});

describe('hostile names', () => {
  it('come out as they went in, or escaped where Postgres has no such text', async () => {
    one.state = busyState(
      '1',
      HOSTILE_NAMES.map((name) => limit(name)),
    );
    const [json = ''] = await rows(
      'SELECT json_agg(table_key) FROM backend_ms_rpc_table_throttler_keys WHERE be_id = 1',
    );
    expect(JSON.parse(json)).toEqual(HOSTILE_NAMES.map(postgresText));
    const history = await rows('SELECT count(*) FROM backend_throttle_history WHERE be_id = 1');
    expect(history).toEqual([String(HOSTILE_NAMES.length)]);
  });

  it('can be asked for', async () => {
    one.state = busyState('1', [limit(`O'Brien "x" \\`)]);
    const sql = `SELECT be_id FROM backend_ms_rpc_table_throttler_keys WHERE table_key = 'O''Brien "x" \\'`;
    expect(await rows(sql)).toEqual(['1']);
  });
});

describe('errors', () => {
  it('reach the client with their SQLSTATE, and the session goes on', async () => {
    const { stdout, stderr } = await ask(
      '\\set VERBOSITY verbose',
      'SELECT nothing FROM nowhere',
      'SELEC',
      'SELECT 1/0',
      `SELECT count(*) FROM ${TABLE}`,
    );
    expect(stderr).toContain('ERROR:  42P01: relation "nowhere" does not exist');
    expect(stderr).toContain('ERROR:  42601: syntax error at or near "SELEC"');
    expect(stderr).toContain('ERROR:  22012: division by zero');
    expect(stdout).toBe('3\n');
  });

  it.each([
    [`DELETE FROM ${TABLE}`, 'cannot delete from view'],
    [`INSERT INTO ${TABLE} VALUES (1, 1, 'x', 1, 1)`, 'cannot insert into view'],
    ['UPDATE spillway.backend_status SET ok = true', 'cannot update view'],
    [`DROP VIEW ${TABLE}`, 'must be owner'],
    [`CREATE OR REPLACE VIEW ${TABLE} AS SELECT 1`, 'permission denied'],
    ['CREATE TABLE t (a int)', 'permission denied'],
    ['CREATE TEMP TABLE t (a int)', 'permission denied'],
    ['CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$', 'permission denied'],
    ['CREATE SCHEMA s', 'permission denied'],
    ['CREATE ROLE r SUPERUSER', 'permission denied'],
    ["COPY (SELECT 1) TO PROGRAM 'touch /srv/x'", 'permission denied'],
    ["COPY (SELECT 1) TO '/srv/x'", 'permission denied'],
    ["SELECT pg_read_file('spillway/backend_status.json')", 'permission denied'],
    ["SELECT pg_read_binary_file('/etc/passwd')", 'permission denied'],
    ["SELECT pg_ls_dir('.')", 'permission denied'],
    ["SELECT lo_import('/etc/passwd')", 'permission denied'],
    ["SELECT lo_from_bytea(0, 'x')", 'permission denied'],
    ['SET SESSION AUTHORIZATION postgres', 'role "postgres" does not exist'],
    ['SET ROLE postgres', 'role "postgres" does not exist'],
    ['SET ROLE pg_write_server_files', 'permission denied'],
    ['SET SESSION AUTHORIZATION pg_execute_server_program', 'permission denied'],
    ["SELECT set_config('session_authorization', 'postgres', false)", 'does not exist'],
    ['ALTER ROLE spillway_reader SUPERUSER', 'permission denied'],
    ["ALTER SYSTEM SET work_mem = '1GB'", 'permission denied'],
    ['UPDATE pg_authid SET rolsuper = true', 'permission denied'],
    ['UPDATE pg_class SET relacl = NULL', 'permission denied'],
    ["LOAD 'plpgsql'", 'not allowed'],
    ["DO $$ BEGIN EXECUTE 'SET SESSION AUTHORIZATION postgres'; END $$", 'does not exist'],
  ])('%s is refused, also to a session that may write', async (sql, message) => {
    const failures: (string | undefined)[] = [];
    for (const mode of ['on', 'off']) {
      await client.ask(`SET default_transaction_read_only = ${mode}`);
      failures.push((await client.ask(sql)).failure?.text);
    }
    expect(failures).toEqual([expect.any(String), expect.stringMatching(message)]);
    const after = `SELECT count(*), current_user, current_setting('is_superuser') FROM ${TABLE}`;
    expect((await client.ask(after)).results[0]?.rows).toEqual([['3', 'spillway_reader', 'off']]);
  });

  it('no way leads back to who made the tables', async () => {
    const back = [
      'RESET SESSION AUTHORIZATION',
      'RESET ROLE',
      'SET ROLE NONE',
      'RESET ALL',
      'DISCARD ALL',
      'SET SESSION AUTHORIZATION DEFAULT',
    ];
    expect(
      await rows(
        ...back,
        'SELECT session_user, current_user, (SELECT count(*) FROM pg_roles WHERE rolsuper)',
      ),
    ).toEqual(['spillway_reader|spillway_reader|0']);
  });

  it('what a session gives away is gone for that session only', async () => {
    await ask('SET default_transaction_read_only = off', 'DROP OWNED BY spillway_reader');
    expect(await rows(`SELECT count(*) FROM ${TABLE}`)).toEqual(['3']);
  });
});

describe('one query', () => {
  const args = (...more: string[]): string[] => [
    'sql',
    ...more,
    '--backends',
    `${one.url},${two.url}`,
  ];

  it('prints a table', async () => {
    const sql = `SELECT be_id, table_id, qps_limit FROM ${TABLE} ORDER BY qps_limit`;
    expect(await runCommand(args(sql))).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        'be_id  table_id  qps_limit',
        '-----  --------  ---------',
        '10001      NULL          3',
        '10002     10010       7.25',
        '10001     10086         12',
        '(3 rows)',
        '',
      ].join('\n'),
    });
  });

  it('prints JSON and CSV', async () => {
    const sql = `SELECT be_id, rpc_type FROM ${TABLE} WHERE be_id = 10002`;
    const [json, csv] = await Promise.all([
      runCommand(args(sql, '--json')),
      runCommand(args(sql, '--csv')),
    ]);
    expect(JSON.parse(json?.stdout ?? '')).toEqual([{ be_id: 10002, rpc_type: 'COMMIT_ROWSET' }]);
    expect(csv?.stdout).toBe('be_id,rpc_type\r\n10002,COMMIT_ROWSET\r\n');
  });

  it('fails with the SQLSTATE, and when it takes too long', async () => {
    const [wrong, slow] = await Promise.all([
      runCommand(args('SELECT 1/0')),
      runCommand(args('SELECT pg_sleep(600)', '--query-timeout-ms', '200')),
    ]);
    expect(wrong).toEqual({
      code: 1,
      stdout: '',
      stderr: 'spillway sql: division by zero [22012]\n',
    });
    expect(slow).toEqual({ code: 1, stdout: '', stderr: 'spillway: no result within 200 ms\n' });
  });
});

it('SIGINT ends it, with clients connected', async () => {
  const other = await startSqlServer(['--backends', one.url]);
  const client = psql(other.port, ['SELECT pg_sleep(600)']).catch((error: Error) => error);
  await pause(100);
  expect(await other.stop('SIGINT')).toBe(0);
  expect(await client).not.toMatchObject({ code: 0 });
});
