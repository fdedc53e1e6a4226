import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { REFUSAL_CODES } from '../../dist/adapters/admin/admin-refusal.js';
import { listenAdmin } from '../../dist/adapters/admin/listen.js';
import { SECURITY_HEADERS } from '../../dist/adapters/admin/security-headers.js';
import {
  type AdminServer,
  ConfigError,
  createRuntime,
  type Runtime,
  RuntimeClosedError,
} from '../../dist/index.js';
import { framesOf, lastIdOf, recordsOf, statesOf } from '../adapters/admin/stream-client.js';
import { accepted, connectRaw, openStream, type Stream } from './admin-client.js';
import { startThread } from './test-thread.js';
import { until } from './until.js';

const TOKEN = 'correct-horse-battery';
const BEARER = { authorization: `Bearer ${TOKEN}` };

let runtime: Runtime;
beforeEach(async () => {
  runtime = await createRuntime({ backendId: 7, host: { rpcs: { write: { qpsPerCore: 1000 } } } });
});
afterEach(() => runtime.close({ deadlineMs: 0 }));

const seqs = (text: string) => recordsOf(text).map(({ seq }) => seq);
const change = () => runtime.updateConfig({});
const lastSeq = () => runtime.recordedEvents().at(-1)?.seq ?? 0;

async function codeOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: { code: string } }).error.code;
}

async function patch({ url }: AdminServer, body: unknown): Promise<Response> {
  return fetch(`${url}/config`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', ...BEARER },
    body: JSON.stringify(body),
  });
}

describe('runtime.admin.listen', () => {
  it('shows the runtime, and changes its configuration in all threads', async () => {
    const thread = startThread<boolean[]>(runtime.handle(), async ({ spillway, handle, told }) => {
      const gate = spillway.attach(handle);
      await told();
      return [gate.tryAcquire('newcomer'), gate.tryAcquire('newcomer')];
    });
    const server = await runtime.admin.listen({ port: 0 });
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    const changed = await patch(server, {
      host: { rpcs: { newcomer: { qpsPerCore: 1e-6, burst: 1 } } },
    });
    expect(await changed.json()).toEqual({ version: 2 });
    thread.tell('go');
    expect(await thread.done).toEqual([true, false]);
    const refused = await patch(server, { host: { rpcs: { newcomer: { burst: 0 } } } });
    expect([refused.status, runtime.configVersion]).toEqual([400, 2]);
    expect(await (await fetch(`${server.url}/config`)).json()).toMatchObject({ version: 2 });
    const state = await (await fetch(`${server.url}/state`)).json();
    expect(state).toMatchObject({ schema: 1, backendId: '7', runtime: { configVersion: 2 } });
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain(
      'spillway_config_version 2',
    );
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  it('answers what is not there, or not done, in one form', async () => {
    const { url, port } = await runtime.admin.listen({ port: 0 });
    const ask = async (path: string, method: string) => {
      const answer = await fetch(`${url}${path}`, { method });
      const code = answer.ok ? undefined : await codeOf(answer);
      return [answer.status, code, answer.headers.get('allow')];
    };
    expect(await ask('/nowhere', 'GET')).toEqual([404, 'not_found', null]);
    expect(await ask('/state/', 'GET')).toEqual([404, 'not_found', null]);
    expect(await ask('/__proto__', 'GET')).toEqual([404, 'not_found', null]);
    expect(await ask('/constructor', 'POST')).toEqual([404, 'not_found', null]);
    expect(await ask('/%zz', 'GET')).toEqual([400, 'bad_request', null]);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      expect(await ask('/state?x=1', method)).toEqual([405, 'method_not_allowed', 'GET, HEAD']);
    }
    expect(await ask('/config', 'OPTIONS')).toEqual([204, undefined, 'GET, HEAD, PATCH']);
    expect(await ask('/events', 'HEAD')).toEqual([200, undefined, null]);
    const preflight = await fetch(`${url}/config`, { method: 'OPTIONS' });
    expect([...preflight.headers.keys()].filter((name) => /^access-control/.test(name))).toEqual(
      [],
    );
    for (const [sent, status] of [
      ['nonsense\r\n\r\n', 400],
      ['GET /state HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\nhost: localhost\r\nexpect: cake\r\n\r\n', 417],
      [`GET /${'x'.repeat(10_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`, 431],
      [`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(10_000)}\r\n\r\n`, 431],
    ] as const) {
      const client = await connectRaw(port);
      client.socket.write(sent);
      const answer = await client.closed;
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(JSON.parse(body)).toMatchObject({ error: { code: REFUSAL_CODES[status] } });
      for (const [name, value] of Object.entries(SECURITY_HEADERS))
        expect(head.toLowerCase()).toContain(`\r\n${name}: ${value.toLowerCase()}`);
    }
  });

  it.each(['127.0.0.1', '127.8.8.8', 'localhost', '::1', '::ffff:127.0.0.1'])(
    'listens on %s without a token',
    async (host) => {
      const server = await runtime.admin.listen({ port: 0, host });
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      if (host === '::1') expect(server.url).toBe(`http://[::1]:${server.port}`);
    },
  );

  it.each(['0.0.0.0', '::', '0', '10.255.255.1', 'fe80::1'])(
    'refuses %s without a token, before it listens',
    async (host) => {
      const refused: unknown = await runtime.admin.listen({ port: 0, host }).catch((e) => e);
      expect(refused).toBeInstanceOf(ConfigError);
      expect(refused).toMatchObject({ field: 'token' });
      expect((refused as Error).message).toMatch(
        /^token must be given when host is no loopback address \(\S+ is \S+\), got undefined$/,
      );
    },
  );

  it('refuses a name that nobody has, and bad options', async () => {
    const host = 'no-such-host.invalid';
    await expect(runtime.admin.listen({ port: 0, host, token: TOKEN })).rejects.toMatchObject({
      name: 'ConfigError',
      field: 'host',
    });
    await expect(runtime.admin.listen({} as never)).rejects.toMatchObject({ field: 'port' });
    await expect(runtime.admin.listen(undefined as never)).rejects.toBeInstanceOf(ConfigError);
  });

  it('answers from everywhere with the token alone, when there is one', async () => {
    const { port } = await runtime.admin.listen({ port: 0, host: '0.0.0.0', token: TOKEN });
    const outside = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal);
    for (const address of ['127.0.0.1', ...(outside === undefined ? [] : [outside.address])]) {
      const url = `http://${address}:${port}`;
      expect((await fetch(`${url}/`)).status).toBe(200);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      expect((await fetch(`${url}/state`, { headers: BEARER })).status).toBe(200);
      for (const path of ['/state', '/events', '/config', '/metrics', `/state?token=${TOKEN}`]) {
        for (const authorization of [
          '',
          'Bearer',
          'Bearer x',
          `Bearer ${TOKEN.slice(0, -1)}`,
          `Bearer ${TOKEN}x`,
          `Basic ${TOKEN}`,
        ]) {
          const answer = await fetch(`${url}${path}`, { headers: { authorization } });
          expect(answer.status).toBe(401);
          expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="spillway"/);
          expect(await answer.text()).not.toContain(TOKEN);
        }
      }
    }
  });

  it('answers no name that somebody else can let point here', async () => {
    const { port } = await runtime.admin.listen({ port: 0 });
    const ask = async (head: string) => {
      const client = await connectRaw(port);
      client.socket.write(`${head}\r\nconnection: close\r\n\r\n`);
      return Number(/^HTTP\/1.1 (\d+)/.exec(await client.closed)?.[1]);
    };
    expect(await ask('GET /state HTTP/1.1\r\nhost: evil.example')).toBe(403);
    expect(await ask(`GET / HTTP/1.1\r\nhost: evil.example:${port}`)).toBe(403);
    expect(await ask('GET /state HTTP/1.0')).toBe(403);
    expect(await ask('GET http://localhost/state HTTP/1.1\r\nhost: evil.example')).toBe(403);
    expect(await ask('GET /state HTTP/1.1\r\nhost: localhost:1')).toBe(200);
  });

  it('reads no body to its end that is too long, whoever says how long it is', async () => {
    const { url } = await runtime.admin.listen({ port: 0 });
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(' '.repeat(10_000))),
    });
    const headers = { 'content-type': 'application/json' };
    const endless = { method: 'PATCH', headers, body, duplex: 'half' } as RequestInit;
    const answer = await fetch(`${url}/config`, endless);
    expect([answer.status, await codeOf(answer)]).toEqual([413, 'body_too_large']);
    expect(runtime.configVersion).toBe(1);
  });

  it('starts one more server at each call, each with a token of its own', async () => {
    const one = await runtime.admin.listen({ port: 0 });
    const two = await runtime.admin.listen({ port: 0, token: TOKEN });
    expect((await fetch(`${one.url}/state`)).status).toBe(200);
    expect((await fetch(`${two.url}/state`)).status).toBe(401);
    await one.close();
    await one.close();
    await expect(fetch(`${one.url}/state`)).rejects.toThrow();
    expect((await fetch(`${two.url}/state`, { headers: BEARER })).status).toBe(200);
  });

  it('says when the port is in use', async () => {
    const { port } = await runtime.admin.listen({ port: 0 });
    const second: unknown = await runtime.admin.listen({ port }).catch((error) => error);
    expect(second).toMatchObject({
      code: 'EADDRINUSE',
      message: `cannot listen on 127.0.0.1, port ${port}: the port is in use`,
    });
  });
});

describe('GET /events', () => {
  it('is taken up again with no event missed and none twice', async () => {
    const { url } = await runtime.admin.listen({ port: 0 });
    let seen: number[] = [];
    let lastId = '0';
    for (let round = 0; round < 5; round += 1) {
      const stream = await openStream(url, { 'last-event-id': lastId });
      await change();
      const until_ = lastSeq();
      await until('the change is told', () => (seqs(stream.text()).at(-1) ?? 0) >= until_);
      stream.cut();
      seen = [...seen, ...seqs(stream.text())];
      lastId = lastIdOf(stream.text()) ?? lastId;
      // While nobody listens.
      await change();
    }
    const last = await openStream(url, { 'last-event-id': lastId });
    await until('all is told', () => (seqs(last.text()).at(-1) ?? 0) === lastSeq());
    seen = [...seen, ...seqs(last.text())];
    expect(seen).toEqual(runtime.recordedEvents(0).map(({ seq }) => seq));
    expect(seen.length).toBeGreaterThan(9);
  });

  it('tells the state at once and again, and what happens in other threads', async () => {
    const { url } = await runtime.admin.listen({ port: 0 });
    const stream = await openStream(url);
    await until('a state', () => statesOf(stream.text()).length > 0);
    const thread = startThread(runtime.handle(), async ({ spillway, handle }) => {
      const gate = spillway.attach(handle);
      await gate.updateConfig({});
      gate.detach();
    });
    await thread.done;
    await until('the change', () => recordsOf(stream.text()).some(({ name }) => name === 'config'));
    const shown = () => statesOf(stream.text()).at(-1)?.runtime?.configVersion;
    await until('the state after it', () => shown() === 2);
    expect(statesOf(stream.text()).at(-1)).toMatchObject({ events: [], history: [] });
    expect(framesOf(stream.text())[0]?.event).toBe('state');
  });

  it('is for 64 at a time', async () => {
    const { url } = await runtime.admin.listen({ port: 0 });
    const streams: Stream[] = [];
    for (let i = 0; i < 64; i += 1) streams.push(await openStream(url));
    expect(streams.every(({ status }) => status === 200)).toBe(true);
    const refused = await fetch(`${url}/events`);
    expect([refused.status, await codeOf(refused)]).toEqual([503, 'unavailable']);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect((await fetch(`${url}/state`)).status).toBe(200);
    streams[0]?.cut();
    let again: Stream;
    do again = await openStream(url);
    while (again.status === 503);
    expect(again.status).toBe(200);
  });

  it('drops who does not read, with bounded memory, and nobody else', async () => {
    let frames = 0;
    const frameBytes = 12_000_000;
    const store = {
      stats: () => {
        frames += 1;
        return { tables: [], logBytes: 0, noise: 'x'.repeat(frameBytes) };
      },
      stalledMs: async () => ({}),
    };
    const { url } = await runtime.admin.listen({ port: 0, stores: { store } });
    const [slow, theirs] = await accepted(() => openStream(url));
    slow.stall();
    const good = await openStream(url);
    // The kernel takes some 10 MB; from then on it is ours, up to 1 MiB and one frame.
    let most = 0;
    await until('it is dropped', () => {
      most = Math.max(most, theirs.writableLength);
      return theirs.destroyed;
    });
    expect(most).toBeLessThan(1_048_576 + frameBytes + 100_000);
    const sent = frames;
    slow.resume();
    await until('it is over', () => slow.isOver);
    expect(statesOf(slow.text()).length).toBeLessThan(sent - 1);
    await until('the other has all', () => statesOf(good.text()).length >= sent - 1);
    expect(good.isOver).toBe(false);
  });

  it('ends at once when the server, or the runtime, closes', async () => {
    const one = await runtime.admin.listen({ port: 0 });
    const two = await runtime.admin.listen({ port: 0 });
    const streams = [await openStream(one.url), await openStream(one.url)];
    const other = await openStream(two.url);
    const stalled = await openStream(two.url);
    stalled.stall();
    await one.close();
    await until('they are over', () => streams.every(({ isOver }) => isOver));
    expect(other.isOver).toBe(false);
    await runtime.close();
    await until('it is over', () => other.isOver);
    await expect(fetch(`${two.url}/state`)).rejects.toThrow();
    await expect(runtime.admin.listen({ port: 0 })).rejects.toBeInstanceOf(RuntimeClosedError);
  });
});

describe('a client that is in no hurry', () => {
  const PATIENCE = { requestMs: 150, idleMs: 100, stallMs: 30_000, lookMs: 20 };

  it('is sent away, in the head of a request, in its body, and before it', async () => {
    const { port, close } = await listenAdmin(runtime, { port: 0 }, PATIENCE);
    const [silent, head, body] = [
      await connectRaw(port),
      await connectRaw(port),
      await connectRaw(port),
    ];
    const drip = setInterval(() => head.socket.write('x: y\r\n'), 20);
    head.socket.write('GET /state HTTP/1.1\r\nhost: localhost\r\n');
    body.socket.write(
      'PATCH /config HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
    );
    try {
      expect(await head.closed).toMatch(/^HTTP\/1.1 408 /);
      expect(await body.closed).toMatch(/^HTTP\/1.1 408 /);
      expect(await silent.closed).toMatch(/^(HTTP\/1.1 408 .*)?/);
    } finally {
      clearInterval(drip);
      await close();
    }
    expect(runtime.configVersion).toBe(1);
  });

  it('is sent away when it takes nothing of its answer', async () => {
    const noise = 'x'.repeat(40_000_000);
    const store = {
      stats: () => ({ tables: [], logBytes: 0, noise }),
      stalledMs: async () => ({}),
    };
    const patience = { ...PATIENCE, stallMs: 150 };
    const { port, close } = await listenAdmin(runtime, { port: 0, stores: { store } }, patience);
    const [client, theirs] = await accepted(() => connectRaw(port));
    client.socket.pause();
    client.socket.write('GET /state HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await until('it is given up', () => theirs.destroyed);
    client.socket.resume();
    expect((await client.closed).length).toBeLessThan(noise.length);
    await close();
  });

  it('is not waited for by a server that closes', async () => {
    const ages = { requestMs: 300_000, idleMs: 300_000, stallMs: 300_000, lookMs: 300_000 };
    const { port, close } = await listenAdmin(runtime, { port: 0 }, ages);
    const client = await connectRaw(port);
    client.socket.write('GET /state HTTP/1.1\r\n');
    // So that the server has read it, as what came later is answered.
    const other = await connectRaw(port);
    other.socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await until('it is answered', () => other.text() !== '');
    await close();
    expect(await client.closed).toBe('');
    await other.closed;
  });

  it('is not, while it reads a stream', async () => {
    const { url, close } = await listenAdmin(runtime, { port: 0 }, PATIENCE);
    const stream = await openStream(url);
    await until('it has outlived both', () => statesOf(stream.text()).length >= 3);
    expect(stream.isOver).toBe(false);
    await close();
  });
});

it('says that the runtime is closing for as long as calls are under way', async () => {
  const { url } = await runtime.admin.listen({ port: 0 });
  let finish: (() => void) | undefined;
  const call = runtime.gate.call({ rpc: 'write' }, () => {
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  await until('it is under way', () => finish !== undefined);
  const closing = runtime.close({ deadlineMs: 30_000 });
  const answer = await fetch(`${url}/healthz`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ status: 'closing' });
  const refused = await patch({ url } as AdminServer, {});
  expect([refused.status, await codeOf(refused)]).toEqual([503, 'ERR_SPILLWAY_RUNTIME_CLOSED']);
  finish?.();
  await Promise.all([call, closing]);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

it('closes a server that is just starting, and says so', async () => {
  const starting = runtime.admin.listen({ port: 0 });
  const closing = runtime.close();
  await expect(starting).rejects.toBeInstanceOf(RuntimeClosedError);
  await closing;
});

it('leaves a port that is taken to who has it, and can be asked again', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await until('it listens', () => taken.listening);
  const { port } = taken.address() as { port: number };
  await expect(runtime.admin.listen({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  taken.close();
  await until('it is free', () => !taken.listening);
  expect((await runtime.admin.listen({ port })).port).toBe(port);
});
