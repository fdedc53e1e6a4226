import { type FastifyInstance, fastify, type InjectOptions } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AdminRoutesOptions, adminRoutes } from '../../../src/adapters/admin.js';
import { RuntimeClosedError } from '../../../src/shared/errors.js';
import { snapshotSample } from '../snapshot-sample.js';
import { type FakeSource, fakeSource } from './fake-source.js';

const TOKEN = 'correct-horse-battery';
const JSON_BODY = { 'content-type': 'application/json' };
const STORE = {
  stats: () => ({ tables: [], logBytes: 17 }),
  stalledMs: async () => ({}),
};

let source: FakeSource;
let app: FastifyInstance;
beforeEach(() => {
  source = fakeSource();
  app = fastify();
});
afterEach(() => app.close());

async function serve(options: Partial<AdminRoutesOptions> = {}): Promise<void> {
  await app.register(adminRoutes, { runtime: source, ...options });
}
const get = (url: string, options: InjectOptions = {}) => app.inject({ url, ...options });
const patch = (payload: string | Buffer, headers: Record<string, string> = JSON_BODY) =>
  app.inject({ method: 'PATCH', url: '/config', payload, headers });

describe('every answer', () => {
  it('may not be kept, embedded, sniffed or read by other sites, refusals too', async () => {
    await serve();
    const headers = { host: 'evil.example' };
    for (const url of ['/', '/metrics', '/healthz', '/state', '/config']) {
      for (const answer of [await get(url), await get(url, { headers })]) {
        expect(answer.headers).toMatchObject({
          'cache-control': 'no-store',
          'cross-origin-resource-policy': 'same-origin',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
        });
        expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none';/);
        expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
        expect(Object.keys(answer.headers).filter((name) => /allow-|powered/.test(name))).toEqual(
          [],
        );
      }
    }
  });

  it.each(['/', '/metrics', '/healthz', '/state', '/config', '/events'])(
    'has a head without a body at %s',
    async (url) => {
      await serve();
      const answer = await get(url, { method: 'HEAD' });
      expect([answer.statusCode, answer.body]).toEqual([200, '']);
      if (url !== '/events') {
        expect(answer.headers['content-type']).toBe((await get(url)).headers['content-type']);
      }
    },
  );
});

describe('GET /', () => {
  it('is the page, with a policy for nothing but its own script and style', async () => {
    await serve({ token: TOKEN });
    const answer = await get('/');
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.body).toMatch(/^<!doctype html>/i);
    expect(answer.headers['content-security-policy']).toMatch(/script-src 'sha256-[^']+';/);
    expect(answer.headers['content-security-policy']).not.toContain('unsafe');
  });
});

describe('GET /healthz', () => {
  it('says that all is well, open to who has no token', async () => {
    source = fakeSource({ backendId: 9_007_199_254_740_993n });
    await serve({ token: TOKEN });
    const answer = await get('/healthz');
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      status: 'ok',
      backendId: '9007199254740993',
      atMs: 5,
      controlGeneration: 1,
      conservation: { ok: true, granted: 0, spent: 0, returned: 0, lost: 0, held: 0 },
    });
  });

  it.each(['no-control-thread', 'closing'] as const)('says %s with 503', async (status) => {
    source.status = status;
    await serve();
    const answer = await get('/healthz');
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ status, backendId: null });
  });
});

describe('GET /state', () => {
  it('is the state, with the stores', async () => {
    await serve({ stores: { kv: STORE } });
    const answer = await get('/state?anything=1');
    expect(answer.json()).toEqual({
      ...source.state(),
      stores: [{ name: 'kv', tables: [], logBytes: 17 }],
    });
  });

  it.each([
    'a\nb\r\n\r\nevent: record\n',
    '\ud800',
    '</script><script>alert(1)</script>',
    '"\\\u2028\u0000',
    '😀'.repeat(100),
    'x'.repeat(10_240),
  ])('holds a table named %j as nothing but its name', async (table) => {
    const pair = { rpc: 'a', table, qpsLimit: 1, currentQps: 2, sinceMs: 3 };
    source.shown = { runtime: snapshotSample({ limits: [pair] }) };
    await serve();
    expect((await get('/state')).json().runtime.limits).toEqual([pair]);
  });
});

describe('GET /state?maxPairs', () => {
  it.each([0, 2, 5000])('asks for %d of the slowed pairs', async (maxPairs) => {
    const asked: unknown[] = [];
    const { state } = source;
    source.state = (options) => {
      asked.push(options);
      return state(options);
    };
    await serve();
    expect((await get(`/state?maxPairs=${maxPairs}`)).statusCode).toBe(200);
    expect((await get('/state')).statusCode).toBe(200);
    expect(asked).toEqual([{ stores: {}, maxPairs }, { stores: {} }]);
  });

  it.each(['', 'all', '-1', '1.5', '1e3', '9999999999', '1&maxPairs=2'])(
    'refuses %j',
    async (maxPairs) => {
      await serve();
      const answer = await get(`/state?maxPairs=${maxPairs}`);
      expect(answer.statusCode).toBe(400);
      expect(answer.json().error.message).toBe('maxPairs must be an integer >= 0');
    },
  );
});

describe('GET /metrics', () => {
  it('has the runtime, and the stores, each table under a name of its own', async () => {
    const named = (table: string) => ({
      table,
      maxPressure: 0.5,
      rejections: 3,
      records: 0,
      bytes: 0,
      flushes: { count: 0, sumNs: 0, buckets: [] },
      flushedRecords: 0,
      flushRetries: 0,
      pendingBytes: 0,
      preWriteEntries: 0,
      maxL0Files: 0,
      buckets: [],
    });
    const store = (table: string) => ({
      stats: () => ({ tables: [named(table)], logBytes: 17 }),
      stalledMs: async () => ({ [table]: 2000 }),
    });
    const confusing = { a: store('b/c'), 'a/b': store('c'), 'a%2Fb': store('c') };
    await serve({ stores: { one: store('t'), two: store('t'), ...confusing } });
    const answer = await get('/metrics');
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const lines = answer.body.split('\n');
    expect(lines).toContain('spillway_calls_total{rpc="commit_rowset"} 0');
    expect(lines).toContain('spillway_kv_backpressure_rejections_total{table="one/t"} 3');
    expect(lines).toContain('spillway_kv_engine_stall_seconds_total{table="two/t"} 2');
    expect(lines).toContain('spillway_kv_log_bytes 85');
    const series = lines.filter((line) => line.startsWith('spillway_kv_records_total{'));
    expect(new Set(series).size).toBe(5);
    expect((await get('/metrics')).statusCode).toBe(200);
  });
});

describe('GET /config', () => {
  it('is the configuration with its version, and a backend id that is no JSON number as text', async () => {
    source = fakeSource({ backendId: 9_223_372_036_854_775_807n });
    await serve();
    const answer = await get('/config');
    expect(answer.headers.etag).toBe('"1"');
    expect(answer.json()).toEqual({
      version: 1,
      config: { ...source.config(), backendId: '9223372036854775807' },
    });
    await source.updateConfig({});
    expect((await get('/config')).headers.etag).toBe('"2"');
  });

  it('has a smaller backend id as it is', async () => {
    source = fakeSource({ backendId: 7 });
    await serve();
    expect((await get('/config')).json().config.backendId).toBe(7);
  });
});

describe('PATCH /config', () => {
  beforeEach(() => serve());
  const unchanged = async () => {
    expect((await get('/config')).json()).toMatchObject({
      version: 1,
      config: { waiting: { maxWaiters: 10_000 } },
    });
  };

  it('changes what it names and tells the new version', async () => {
    const answer = await patch('{"waiting":{"maxWaiters":5},"ms_rpc_qps_a":12}');
    expect([answer.statusCode, answer.json(), answer.headers.etag]).toEqual([
      200,
      { version: 2 },
      '"2"',
    ]);
    expect(source.config()).toMatchObject({
      waiting: { maxWaiters: 5 },
      host: { rpcs: { a: { qpsPerCore: 12 } } },
    });
    const parametrised = { 'content-type': 'application/json; charset=utf-8' };
    expect((await patch('{"host":{"rpcs":{"a":null}}}', parametrised)).json()).toEqual({
      version: 3,
    });
    expect(source.config().host.rpcs['a']?.qpsPerCore).toBe(-1);
  });

  it.each([
    ['{"waiting":{"maxWaiters":1.5}}', 'waiting.maxWaiters', 'must be an integer from 1', '1.5'],
    ['{"waiting":{"maxWaiters":"5"}}', 'waiting.maxWaiters', 'must be an integer from 1', "'5'"],
    ['{"waiting":{"maxWaiters":1e999}}', 'waiting.maxWaiters', 'must be an integer', 'Infinity'],
    ['{"waiting":{"maxWaiter":5}}', 'waiting.maxWaiter', 'is no option', '5'],
    ['{"waiting":null}', 'waiting', 'must be an object', 'null'],
    ['{"waiting":{"maxWaiters":5},"retry":{"on":["busy","busy"]}}', 'retry.on', 'none twice', ''],
    ['{"nonsense":1}', 'nonsense', 'is no option', '1'],
    ['{"__proto__":{"polluted":1}}', '__proto__', 'is no option', 'an object'],
    ['{"constructor":{"prototype":1}}', 'constructor', 'is no option', 'an object'],
    ['{"host":{"rpcs":{"__proto__":{}}}}', 'host.rpcs', 'for a name', "'__proto__'"],
    ['{"capacity":{"threads":65}}', 'capacity.threads', 'cannot change at run time', '65'],
    ['{"configFile":"/etc/passwd"}', 'configFile', 'cannot change at run time', '/etc/passwd'],
    ['{"backendId":"x"}', 'backendId', 'must be an integer from 0', "'x'"],
    ['{"backendId":"99999999999999999999"}', 'backendId', 'must be an integer from 0', ''],
    ['{"backendId":9223372036854775807}', 'backendId', 'must be an integer from 0', ''],
    ['{"backendId":"7"}', 'backendId', 'cannot change at run time', '7'],
    ['[]', 'patch', 'must be an object', 'an array'],
    ['"waiting"', 'patch', 'must be an object', "'waiting'"],
    ['null', 'patch', 'must be an object', 'null'],
    ['17', 'patch', 'must be an object', '17'],
  ])('refuses %s whole, with field, rule and what came', async (body, field, rule, came) => {
    const answer = await patch(body);
    expect(answer.statusCode).toBe(400);
    const { error } = answer.json();
    expect(error).toMatchObject({ code: 'ERR_SPILLWAY_CONFIG', field });
    expect(error.message).toContain(rule);
    expect(error.message).toContain(came);
    expect(Object.keys(answer.json())).toEqual(['error']);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    await unchanged();
  });

  it.each([
    ['nothing', ''],
    ['half an object', '{"waiting":'],
    ['a comment', '{} // x'],
    ['two', '{}{}'],
    ['NaN', '{"waiting":{"maxWaiters":NaN}}'],
    ['what is no UTF-8', Buffer.from('{"a":"\xff"}', 'latin1')],
    ['brackets alone', '['.repeat(60_000)],
  ])('refuses %s', async (_what, body) => {
    const answer = await patch(body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error.code).toBe('bad_request');
    await unchanged();
  });

  it('refuses what is nested too deep', async () => {
    const deep = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`;
    const answer = await patch(deep);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error.field).toMatch(/^a\.a/);
    await unchanged();
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/json'])(
    'refuses %s, which another site could send',
    async (type) => {
      const answer = await patch('{"waiting":{"maxWaiters":5}}', { 'content-type': type });
      expect(answer.statusCode).toBe(415);
      expect(answer.json().error).toEqual({
        code: 'unsupported_media_type',
        message: 'content-type must be application/json',
      });
      await unchanged();
    },
  );

  it('refuses a body without a type, and one of more than 64 KiB', async () => {
    expect((await patch('{}', { 'content-type': '' })).statusCode).toBe(415);
    const long = (length: number) => `{"waiting":{"maxWaiters":5}}${' '.repeat(length - 28)}`;
    const answer = await patch(long(65_537));
    expect([answer.statusCode, answer.json().error.code]).toEqual([413, 'body_too_large']);
    await unchanged();
    expect((await patch(long(65_536))).statusCode).toBe(200);
  });

  it('refuses another site, whatever it sends', async () => {
    const answer = await patch('{"waiting":{"maxWaiters":5}}', {
      ...JSON_BODY,
      origin: 'https://evil.example',
    });
    expect(answer.statusCode).toBe(403);
    await unchanged();
  });

  it('keeps to the version that it is meant for', async () => {
    const when = (tag: string) => patch('{}', { ...JSON_BODY, 'if-match': tag });
    expect((await when('"1"')).json()).toEqual({ version: 2 });
    const late = await when('"1"');
    expect([late.statusCode, late.headers.etag]).toEqual([412, '"2"']);
    expect(late.json().error.code).toBe('ERR_SPILLWAY_CONFIG_CONFLICT');
    expect((await when('"7", "2"')).json()).toEqual({ version: 3 });
    expect((await when('"7", "8"')).statusCode).toBe(412);
    expect((await when('*')).json()).toEqual({ version: 4 });
    for (const tag of ['4', 'W/"4"', '"x"', '""', '"4" "5"', '"-1"']) {
      expect((await when(tag)).statusCode).toBe(400);
    }
    expect(source.configVersion).toBe(4);
  });

  it('says that the runtime is closed', async () => {
    source.updateConfig = () => Promise.reject(new RuntimeClosedError());
    const answer = await patch('{}');
    expect(answer.statusCode).toBe(503);
    expect(answer.json().error.code).toBe('ERR_SPILLWAY_RUNTIME_CLOSED');
  });

  it('does not tell what went wrong inside', async () => {
    source.updateConfig = () => Promise.reject(new Error('a secret'));
    const answer = await patch('{}');
    expect([answer.statusCode, answer.json()]).toEqual([
      500,
      { error: { code: 'internal', message: 'it could not be answered' } },
    ]);
  });
});

describe('adminRoutes in a fastify of somebody else', () => {
  const bearer = { authorization: `Bearer ${TOKEN}` };

  it('stay below their prefix, with the token', async () => {
    app.get('/state', async () => 'mine');
    app.post('/echo', async ({ body }) => body);
    await app.register(adminRoutes, { prefix: '/spillway', runtime: source, token: TOKEN });
    expect((await get('/state')).body).toBe('mine');
    const echo = await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 } });
    expect(echo.json()).toEqual({ a: 1 });
    expect(echo.headers['x-frame-options']).toBeUndefined();
    expect((await get('/spillway/')).statusCode).toBe(200);
    expect((await get('/spillway/healthz')).statusCode).toBe(200);
    expect((await get('/spillway/state')).statusCode).toBe(401);
    expect((await get('/spillway/state', { headers: bearer })).json()).toMatchObject({ schema: 1 });
    const far = { url: '/spillway/config', headers: { ...bearer, host: 'backend7' } };
    expect((await app.inject({ ...far, remoteAddress: '10.0.0.1' })).statusCode).toBe(200);
  });

  it('answer this machine alone when there is no token', async () => {
    await serve();
    expect((await get('/state')).statusCode).toBe(200);
    expect((await app.inject({ url: '/state', remoteAddress: '10.0.0.1' })).statusCode).toBe(403);
    expect((await get('/state', { headers: { host: 'backend7' } })).statusCode).toBe(403);
  });

  it.each<[string, object]>([
    ['runtime must be a runtime, got undefined', { runtime: undefined }],
    ['token must be 16 to 256', { token: 'short' }],
    ['stores must be an object', { stores: [] }],
  ])('refuse bad options: %s', async (message, options) => {
    await expect(serve(options)).rejects.toThrow(message);
  });
});
