import { fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { adminRoutes } from '../../src/adapters/admin.js';
import { readBackendState } from '../../src/cli/backend-state.js';
import { BackendWatch } from '../../src/cli/backend-watch.js';
import { StateReader } from '../../src/cli/shown-state.js';
import { fakeSource } from '../adapters/admin/fake-source.js';
import { busyState, limit, type ScriptedBackend, startBackend } from './scripted-backend.js';

const reader = new StateReader();
const limits = { timeoutMs: 10_000, maxBytes: 1_000_000 };
let backend: ScriptedBackend;

beforeEach(async () => {
  backend = await startBackend(busyState('10001', [limit('10086')]));
});
afterEach(() => backend.stop());

function read(parts: Partial<typeof limits> = {}, token?: string) {
  return readBackendState({ url: backend.url, token }, reader, { ...limits, ...parts });
}

describe('one look at a backend', () => {
  it('reads its state, and sends its token', async () => {
    let authorization: string | undefined;
    backend.answer = (request, response) => {
      authorization = request.headers.authorization;
      response.end(JSON.stringify(backend.state));
    };
    const answer = await read({}, 'secret');
    expect(answer).toMatchObject({ kind: 'up', state: { backendId: '10001' } });
    expect(authorization).toBe('Bearer secret');
  });

  it('asks for all pairs that are slowed, of a real admin server too', async () => {
    const asked: unknown[] = [];
    backend.answer = (request, response) => {
      asked.push(request.url);
      response.end(JSON.stringify(backend.state));
    };
    await read();
    expect(asked).toEqual(['/state?maxPairs=100000000']);
    const wanted: unknown[] = [];
    const runtime = fakeSource();
    runtime.state = (options = {}) => {
      wanted.push(options.maxPairs);
      return backend.state;
    };
    const app = fastify();
    await app.register(adminRoutes, { runtime });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const answer = await readBackendState({ url, token: undefined }, reader, limits);
    await app.close();
    expect(answer).toMatchObject({ kind: 'up', state: { throttledTotal: 1 } });
    expect(wanted).toEqual([100_000_000]);
  });

  it.each<[string, string, string]>([
    ['what is no JSON', 'nothing', 'the state is not JSON'],
    ['another version', '{"schema":2}', 'not a state that this version knows: schema'],
    ['an array', '[]', 'not a state that this version knows'],
    ['null', 'null', 'not a state that this version knows'],
  ])('says so of %s', async (_what, text, error) => {
    backend.answer = (_request, response) => response.end(text);
    expect(await read()).toMatchObject({ kind: 'down', error: expect.stringContaining(error) });
  });

  it('names the field that is wrong', async () => {
    const text = JSON.stringify(backend.state).replace('"qpsLimit":12', '"qpsLimit":"12"');
    backend.answer = (_request, response) => response.end(text);
    expect(await read()).toMatchObject({
      kind: 'down',
      error: expect.stringContaining('runtime.limits.0.qpsLimit'),
    });
  });

  it.each([
    [401, undefined, 'HTTP 401: it wants a token'],
    [401, 'wrong', 'HTTP 401: wrong token'],
    [503, undefined, 'HTTP 503'],
  ])('explains status %i', async (status, token, error) => {
    backend.answer = (_request, response) => {
      response.statusCode = status;
      response.end('x');
    };
    expect(await read({}, token)).toMatchObject({ kind: 'down', error });
  });

  it('follows no redirect: the token would go along', async () => {
    const other = await startBackend(backend.state);
    backend.answer = (_request, response) => {
      response.writeHead(302, { location: `${other.url}/state` });
      response.end();
    };
    expect(await read({}, 'secret')).toMatchObject({ kind: 'down' });
    expect(other.asked).toBe(0);
    await other.stop();
  });

  it('does not wait for one that never answers, nor for one that never ends', async () => {
    backend.answer = () => {};
    const error = 'no answer within 50 ms';
    expect(await read({ timeoutMs: 50 })).toMatchObject({ kind: 'down', error });
    backend.answer = (_request, response) => void response.write('{"schema":1,');
    expect(await read({ timeoutMs: 50 })).toMatchObject({ kind: 'down', error });
  });

  it('reads no more than it may', async () => {
    backend.answer = (_request, response) => response.end('x'.repeat(1001));
    expect(await read({ maxBytes: 1000 })).toMatchObject({
      kind: 'down',
      error: 'the state is larger than 1000 bytes',
    });
  });

  it('says why it cannot connect', async () => {
    const { url } = backend;
    await backend.stop();
    const answer = await readBackendState({ url, token: undefined }, reader, limits);
    expect(answer).toMatchObject({ kind: 'down', error: expect.stringContaining('ECONNREFUSED') });
    backend = await startBackend(backend.state);
  });
});

describe('looks at all of them', () => {
  it('is one look for who asks together, and a new one for who asks later', async () => {
    const watch = new BackendWatch([{ url: backend.url, token: undefined }], limits);
    await Promise.all([watch.read(), watch.read(), watch.read()]);
    expect(backend.asked).toBe(1);
    await watch.read();
    expect(backend.asked).toBe(2);
  });

  it('gives nobody what was read before it asked', async () => {
    const watch = new BackendWatch([{ url: backend.url, token: undefined }], limits);
    const release: (() => void)[] = [];
    const answered = new Promise<void>((resolve) => {
      backend.answer = (_request, response) => {
        const { state } = backend;
        release.push(() => response.end(JSON.stringify(state)));
        resolve();
      };
    });
    const early = watch.read();
    await answered;
    backend.answer = undefined;
    backend.state = busyState('10001', []);
    const [late] = await watch.read();
    release[0]?.();
    expect(late?.last?.runtime?.limits).toHaveLength(0);
    expect((await early)[0]?.last?.runtime?.limits).toHaveLength(1);
  });

  it('remembers what one said that has gone', async () => {
    const watch = new BackendWatch([{ url: backend.url, token: undefined }], limits);
    expect((await watch.read())[0]).toMatchObject({ ageMs: 0, answer: { kind: 'up' } });
    backend.answer = (request) => request.socket.destroy();
    const [reading] = await watch.read();
    expect(reading).toMatchObject({ answer: { kind: 'down' }, last: { backendId: '10001' } });
    expect(reading?.ageMs).toBeGreaterThan(0);
  });
});
