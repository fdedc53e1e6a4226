import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { message, parametrized, query } from '../../src/cli/sql/wire-messages.js';
import { psql, type SqlServer, startSqlServer } from './command-process.js';
import { busyState, limit, type ScriptedBackend, startBackend } from './scripted-backend.js';
import { cancelRequest, connectRaw, connectWire, startup, type WireClient } from './wire-client.js';

// What clients do to the endpoint: the protocol's corners, queries that never end, and those who mean harm.

let backend: ScriptedBackend;
let server: SqlServer;

const TABLE = 'information_schema.backend_ms_rpc_table_throttlers';

beforeAll(async () => {
  backend = await startBackend(busyState('10001', [limit('10086'), limit('10010')]));
  server = await startSqlServer(['--backends', backend.url, '--max-clients', '3']);
}, 120_000);

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  await backend.stop();
});

async function withClient<Result>(
  use: (client: WireClient) => Promise<Result>,
  parameters: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const client = await connectWire(server.port, parameters);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

function prepare(name: string, sql: string): Buffer {
  return message('P', name, sql, Buffer.from([0, 0]));
}

function execute(name: string): Buffer {
  return Buffer.concat([
    message('B', '', name, Buffer.alloc(6)),
    message('E', '', Buffer.alloc(4)),
  ]);
}

const SYNC = message('S');

function types(frames: readonly { readonly type: string }[]): string {
  return frames.map(({ type }) => type).join('');
}

describe('the extended protocol', () => {
  it('binds parameters, keeps prepared statements, and skips to the Sync after an error', () =>
    withClient(async (client) => {
      client.send(parametrized(`SELECT count(*) FROM ${TABLE} WHERE table_id = $1`, ['10086']));
      expect(types(await client.until('Z'))).toBe('12TDCZ');
      client.send(prepare('p', `SELECT be_id FROM ${TABLE}`), message('H'));
      expect(types(await client.until('1'))).toBe('1');
      client.send(execute('p'), SYNC);
      expect(types(await client.until('Z'))).toBe('2DDCZ');
      client.send(prepare('', 'SELEC'), execute(''), execute('p'), SYNC);
      expect(types(await client.until('Z'))).toBe('EZ');
      client.send(execute('p'), execute('p'), SYNC);
      expect(types(await client.until('Z'))).toBe('2DDC2DDCZ');
    }));

  it('reads rows for what was prepared before', () =>
    withClient(async (client) => {
      client.send(prepare('p', `SELECT be_id FROM ${TABLE}`), SYNC);
      await client.until('Z');
      const before = backend.asked;
      const { state } = backend;
      backend.state = busyState('10001', []);
      client.send(execute('p'), SYNC);
      expect(types(await client.until('Z'))).toBe('2CZ');
      expect(backend.asked).toBe(before + 1);
      backend.state = state;
    }));
});

it('a transaction sees one state, of its first look at a table', () =>
  withClient(async (client) => {
    const count = async (): Promise<unknown> =>
      (await client.ask(`SELECT count(*) FROM ${TABLE}`)).results[0]?.rows[0]?.[0];
    const { state } = backend;
    await client.ask('BEGIN');
    backend.state = busyState('10001', [limit('1')]);
    expect(await count()).toBe('1');
    backend.state = state;
    expect(await count()).toBe('1');
    await client.ask('SELECT 1/0');
    await client.ask('ROLLBACK');
    expect(await count()).toBe('2');
  }));

describe('log-in', () => {
  it('says what it is, and takes settings', () =>
    withClient(
      async (client) => {
        expect(client.parameters.get('server_version')).toMatch(/^\d+\.\d+/);
        expect(client.parameters.get('TimeZone')).toBe('Europe/Berlin');
        expect(client.parameters.get('is_superuser')).toBe('off');
        expect(client.parameters.get('application_name')).toBe('a');
        const { results } = await client.ask(`SELECT current_setting('statement_timeout')`);
        expect(results[0]?.rows).toEqual([['5s']]);
      },
      { TimeZone: 'Europe/Berlin', application_name: 'a', options: '-c statement_timeout=5s' },
    ));

  it('says no to TLS and goes on without', async () => {
    const socket = await connectRaw(server.port);
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toBe('N');
    socket.write(startup({ user: 'me' }));
    const [greeting] = await once(socket, 'data');
    expect(String(greeting)[0]).toBe('R');
    socket.destroy();
  });

  it('says no to TLS and to GSSAPI once each, and then no more', async () => {
    const socket = await connectRaw(server.port);
    let answer = '';
    socket.setEncoding('latin1').on('data', (part) => {
      answer += part;
    });
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47].concat([0, 0, 0, 8, 4, 210, 22, 48])));
    for (let i = 0; i < 1000; i += 1) socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
    await once(socket, 'close');
    expect(answer).toMatch(/^NNE.*FATAL.*08P01/s);
    expect(answer.match(/FATAL/g)).toHaveLength(2);
  });

  it('negotiates a newer protocol down', async () => {
    const client = await connectWire(server.port, { '_pq_.x': '1' }, 2);
    expect((await client.ask('SELECT 1')).results[0]?.rows).toEqual([['1']]);
    await client.close();
  });

  it.each<[string, Buffer | string, RegExp]>([
    ['HTTP', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', /08P01/],
    ['an unknown setting', startup({ user: 'me', no_such: '1' }), /42704/],
    ['replication', startup({ user: 'me', replication: 'database' }), /0A000/],
  ])('refuses %s', async (_what, bytes, code) => {
    const socket = await connectRaw(server.port);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(bytes);
    await once(socket, 'close');
    expect(text).toMatch(code);
  });

  it('lets in no more than it may, and the next one when one has left', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => connectWire(server.port)));
    expect((await psql(server.port, ['SELECT 1'])).stderr).toContain(
      'too many clients already: at most 3',
    );
    await clients[0]?.close();
    expect((await psql(server.port, ['SELECT 1'])).stdout).toBe('1\n');
    await Promise.all(clients.map((client) => client.close()));
  });
});

describe('what never ends', () => {
  it('is cancelled by its key alone, and the session goes on anew', () =>
    withClient(async (client) => {
      client.send(query('SELECT pg_sleep(600)'));
      const wrong = await connectRaw(server.port);
      wrong.end(cancelRequest({ pid: client.pid, secret: client.secret ^ 1 }));
      await once(wrong, 'close');
      const right = await connectRaw(server.port);
      right.end(cancelRequest(client));
      const frames = await client.until('Z');
      expect(types(frames)).toBe('EZ');
      expect(String(frames[0]?.body)).toContain('57014');
      expect((await client.ask(`SELECT count(*) FROM ${TABLE}`)).results[0]?.rows).toEqual([['2']]);
    }));

  it('ends at the time-out, whatever it does, and the session goes on', async () => {
    const short = await startSqlServer(['--backends', backend.url, '--query-timeout-ms', '300']);
    const client = await connectWire(short.port);
    for (const sql of [
      'SELECT pg_sleep(600)',
      'SELECT count(*) FROM generate_series(1, 1000000000000)',
      'DO $$ BEGIN LOOP END LOOP; END $$',
      'WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r',
    ]) {
      expect(await client.ask(sql)).toMatchObject({ results: [], failure: { code: '57014' } });
    }
    await client.close();
    await short.stop();
  });

  it('a result without end is cut off', () =>
    withClient(async (client) => {
      const sql = `SELECT repeat('x', 1000000) FROM generate_series(1, 1000000)`;
      const { failure } = await client.ask(sql);
      expect(failure).toMatchObject({ code: '54000' });
      expect((await client.ask('SELECT 1')).results[0]?.rows).toEqual([['1']]);
    }));

  it('memory without end is refused, within the session', () =>
    withClient(async (client) => {
      await client.ask('SET application_name = still');
      const { failure } = await client.ask(`SELECT length(repeat('x', 900000000))`);
      expect(failure).toMatchObject({ code: '53200' });
      const sort = `SELECT count(*) FROM (SELECT repeat('y', 1000) || g AS x FROM generate_series(1, 1000000) g ORDER BY 1 OFFSET 1) s`;
      expect((await client.ask(sort)).failure?.code).toMatch(/53400|53200/);
      const { results } = await client.ask('SHOW application_name');
      expect(results[0]?.rows).toEqual([['still']]);
    }));
});

describe('a client that breaks the protocol', () => {
  it.each<[string, Buffer]>([
    ['an unknown message', message('z')],
    ['a negative length', Buffer.from([81, 255, 255, 255, 255])],
    ['a huge length', Buffer.from([81, 127, 255, 255, 255])],
    ['a query without its end', message('Q', Buffer.from('SELECT 1'))],
  ])('by %s is told, and hurts nobody else', async (_what, bytes) => {
    const [bad, good] = await Promise.all([connectWire(server.port), connectWire(server.port)]);
    bad.send(bytes);
    const frames = await bad.until('none');
    expect(types(frames)).toBe('E');
    expect(String(frames[0]?.body)).toMatch(/08P01|XX000/);
    expect((await good.ask('SELECT 1')).results[0]?.rows).toEqual([['1']]);
    await good.close();
  });

  it('by leaving in the middle of a query leaves nothing behind', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => connectWire(server.port)));
    for (const client of clients) {
      client.send(query('SELECT pg_sleep(600)'));
      client.socket.destroy();
    }
    await Promise.all(clients.map((client) => client.until('none')));
    // Their places are free as soon as the server has noticed; their queries would run for ten minutes.
    const deadline = performance.now() + 30_000;
    for (;;) {
      const { stdout } = await psql(server.port, ['SELECT 1']);
      if (stdout === '1\n') break;
      expect(performance.now()).toBeLessThan(deadline);
    }
  });

  it('by sending ahead gets its answers in order', () =>
    withClient(async (client) => {
      client.send(query('SELECT 1'), query('SELEC'), query('SELECT 2'), message('X'));
      expect(types(await client.until('none'))).toBe('TDCZEZTDCZ');
    }));
});

describe('a password', () => {
  let dir: string;
  let guarded: SqlServer;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'spillway-sql-'));
    writeFileSync(join(dir, 'password'), 'hunter 2\n');
    guarded = await startSqlServer([
      '--backends',
      backend.url,
      '--password-file',
      join(dir, 'password'),
    ]);
  }, 120_000);
  afterAll(async () => {
    await guarded.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('lets in who knows it', async () => {
    const sql = 'SELECT current_user';
    expect((await psql(guarded.port, [sql], { PGPASSWORD: 'hunter 2' })).stdout).toBe(
      'spillway_reader\n',
    );
  });

  it('keeps out who does not', async () => {
    const wrong = await psql(guarded.port, ['SELECT 1'], { PGPASSWORD: 'hunter' });
    expect(wrong.stderr).toContain('password authentication failed');
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    const socket = await connectRaw(guarded.port);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write(Buffer.concat([startup({ user: 'me' }), query('SELECT 1')]));
    await once(socket, 'close');
    expect(text).toContain('28P01');
  });
});
