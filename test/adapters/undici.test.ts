import { EventEmitter, getEventListeners, once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import {
  Agent,
  type Dispatcher,
  errors,
  FormData,
  getGlobalDispatcher,
  interceptors,
  MockAgent,
  setGlobalDispatcher,
  fetch as undiciFetch,
} from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createUndiciInterceptor,
  type UndiciInterceptorOptions,
} from '../../src/adapters/undici.js';
import {
  RateLimitExceededError,
  RuntimeClosedError,
  UnknownRpcError,
} from '../../src/shared/errors.js';
import { FakeGate } from './fake-gate.js';
import { closedPort, type HttpService, startHttpService } from './loopback-http.js';

let service: HttpService;
let gate: FakeGate;
let agent: Agent;
beforeEach(async () => {
  service = await startHttpService();
  gate = new FakeGate();
  agent = new Agent({ keepAliveTimeout: 60_000 });
});
afterEach(async () => {
  await agent.destroy();
  await service.stop();
});

const gated = (options: Partial<UndiciInterceptorOptions> = {}): Dispatcher =>
  agent.compose(createUndiciInterceptor({ gate, ...options }));

type Sent = Partial<Dispatcher.RequestOptions> & { readonly path?: string };

const send = (options: Sent = {}, client = gated()): Promise<Dispatcher.ResponseData> =>
  client.request({ origin: service.origin, path: '/', method: 'GET', ...options });

/** What a promise is rejected with. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('it was not rejected');
    },
    (error: unknown) => error,
  );

async function turns(until: () => boolean): Promise<void> {
  while (!until()) await new Promise(setImmediate);
}

const refusal = new RateLimitExceededError('would wait 700 ms', {
  retryAfterMs: 700,
  stage: 'host',
  rpc: 'http',
});

describe('a request', () => {
  it('goes through the gate with its RPC type, table, address and weight', async () => {
    const client = gated({
      rpc: ({ method, path }) => `${method} ${path}`,
      table: ({ header }) => header('X-Table'),
      weight: ({ options }) => String(options.body).length,
      maxWaitMs: 50,
    });
    const sent: Sent = { path: '/load', method: 'PUT', body: 'abc', headers: { 'x-table': 't1' } };
    const { statusCode, body } = await send(sent, client);
    expect([statusCode, await body.text()]).toEqual([200, 'ok']);
    expect(gate.asked).toMatchObject([
      { rpc: 'PUT /load', table: 't1', weight: 3, maxWaitMs: 50, address: service.origin },
    ]);
    await turns(() => gate.verdicts.length > 0);
    expect(gate.verdicts).toEqual(['success']);
  });

  it.each([
    ['an object', { 'X-Table': 't' }],
    ['pairs', new Map([['x-table', 't']])],
    ['a flat array', ['a', 'b', 'X-TABLE', 't']],
    ['Headers', new Headers({ 'x-table': 't' })],
  ])('may have its headers as %s', async (_form, headers) => {
    const client = gated({ table: ({ header }) => header('x-table') });
    await (await send({ headers: headers as never }, client)).body.dump();
    expect(gate.asked).toMatchObject([{ rpc: 'http', table: 't' }]);
  });

  it.each([
    [204, 'success'],
    [304, 'success'],
    [404, 'ignored'],
    [429, 'busy'],
    [500, 'failure'],
    [503, 'busy'],
  ])('that is answered with %i is %s', async (status, verdict) => {
    service.answer = (_request, response) => void response.writeHead(status).end();
    const { statusCode, body } = await send();
    await body.dump();
    expect(statusCode).toBe(status);
    await turns(() => gate.verdicts.length > 0);
    expect(gate.verdicts).toEqual([verdict]);
  });

  it('gives what Retry-After says to the gate', async () => {
    service.answer = (_request, response) =>
      void response.writeHead(503, { 'retry-after': '2' }).end();
    await (await send()).body.dump();
    await turns(() => gate.verdicts.length > 0);
    expect(gate.verdicts).toEqual([{ kind: 'busy', retryAfterMs: 2000 }]);
  });

  it('may be told apart by what its headers or trailers say', async () => {
    const client = gated({
      classify: ({ status, headers, trailers }, { path }) => {
        if (path === '/head' && headers['x-state'] === 'broken') return 'failure';
        return status === 200 && trailers?.['x-state'] === 'busy' ? 'busy' : undefined;
      },
    });
    service.answer = (request, response) => {
      response.writeHead(200, { 'x-state': 'broken', trailer: 'x-state' });
      response.write('ok');
      response.addTrailers({ 'x-state': request.url === '/trailers' ? 'busy' : 'fine' });
      response.end();
    };
    for (const path of ['/head', '/trailers', '/fine']) {
      const { body, trailers } = await send({ path }, client);
      expect(await body.text()).toBe('ok');
      expect(trailers).toEqual({ 'x-state': path === '/trailers' ? 'busy' : 'fine' });
    }
    await turns(() => gate.verdicts.length === 3);
    expect(gate.verdicts).toEqual([
      'failure',
      { kind: 'busy', retryAfterMs: Number.POSITIVE_INFINITY },
      'success',
    ]);
  });

  it('without a name, or of an unknown RPC type, is sent ungated', async () => {
    gate.decision = { refuse: new UnknownRpcError('rpc must be one of a', { rpc: 'b' }) };
    for (const client of [gated({ rpc: () => undefined }), gated({ rpc: 'b' })])
      expect(await (await send({}, client)).body.text()).toBe('ok');
    const failure = await failureOf(send({}, gated({ rpc: 'b', unknownRpc: 'refuse' })));
    expect(failure).toBeInstanceOf(UnknownRpcError);
    expect(gate.verdicts).toEqual([]);
    expect(service.seen).toHaveLength(2);
  });

  it.each(['rpc', 'table', 'address', 'weight'] as const)(
    'whose %s callback throws is not sent, and fails with what it threw',
    async (name) => {
      const thrown = new Error(name);
      const client = gated({
        [name]: () => {
          throw thrown;
        },
      });
      expect(await failureOf(send({}, client))).toBe(thrown);
      expect(service.seen).toEqual([]);
    },
  );

  it('whose classifier fails at the head or at the end fails with that', async () => {
    service.answer = (_request, response) => {
      response.writeHead(200, { trailer: 'x-end' });
      response.addTrailers({ 'x-end': '1' });
      response.end('ok');
    };
    const wrong = gated({ classify: () => 'fine' as never });
    expect(await failureOf(send({}, wrong))).toMatchObject({
      message: "classify must return a verdict or nothing, got 'fine'",
    });
    const late = gated({
      classify: ({ trailers }) => {
        if (trailers !== undefined) throw new Error('at the end');
        return undefined;
      },
    });
    const { body } = await send({}, late);
    expect(await failureOf(body.text())).toMatchObject({ message: 'at the end' });
  });
});

describe('a request that waits', () => {
  beforeEach(() => {
    gate.decision = 'hold';
  });

  it('is sent once the gate lets it go', async () => {
    const sent = send();
    await turns(() => gate.asked.length === 1);
    expect(service.seen).toEqual([]);
    gate.release();
    expect(await (await sent).body.text()).toBe('ok');
  });

  it('and is aborted ends at once with the reason, and is not sent', async () => {
    const controller = new AbortController();
    const sent = send({ signal: controller.signal });
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await failureOf(sent)).toBe(reason);
    expect(gate.asked[0]?.signal?.aborted).toBe(true);
    gate.release();
    await new Promise(setImmediate);
    expect(service.seen).toEqual([]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('and is aborted by an emitter ends too', async () => {
    const emitter = new EventEmitter();
    const sent = send({ signal: emitter });
    emitter.emit('abort');
    expect(await failureOf(sent)).toMatchObject({ name: 'AbortError' });
    expect(gate.asked[0]?.signal?.aborted).toBe(true);
  });

  it('ends when its body can no longer be sent, and listens to nothing once it is', async () => {
    const broken = new PassThrough();
    const sent = send({ method: 'POST', body: broken });
    broken.destroy(new Error('the disk is gone'));
    expect(await failureOf(sent)).toMatchObject({ message: 'the disk is gone' });
    const closed = new PassThrough();
    const unsent = send({ method: 'POST', body: closed });
    closed.destroy();
    expect(await failureOf(unsent)).toMatchObject({ name: 'AbortError' });
    expect(gate.asked.map(({ signal }) => signal?.aborted)).toEqual([true, true]);

    const good = Readable.from(['a', 'b']);
    const plain = Readable.from(['a', 'b']);
    const listeners = (body: Readable) => body.listenerCount('error') + body.listenerCount('close');
    const count = listeners(good);
    const going = send({ method: 'POST', body: good });
    expect(listeners(good)).toBe(count + 2);
    gate.release();
    await (await going).body.dump();
    await (await send({ method: 'POST', body: plain }, agent)).body.dump();
    expect(listeners(good)).toBe(listeners(plain));
    expect(service.seen).toEqual(['POST /', 'POST /']);
  });

  it('and is aborted in the same turn that lets it go, is not answered', async () => {
    const controller = new AbortController();
    const sent = send({ signal: controller.signal });
    gate.release();
    controller.abort();
    expect(await failureOf(sent)).toMatchObject({ name: 'AbortError' });
    await new Promise(setImmediate);
    expect(service.seen).toEqual([]);
  });

  it('and is aborted once it queues for a connection ends at once', async () => {
    const controller = new AbortController();
    const one = new Agent({ connections: 1, pipelining: 1 });
    let answer = () => {};
    service.answer = (_request, response) => {
      answer = () => response.end('ok');
    };
    const client = one.compose(createUndiciInterceptor({ gate }));
    const first = send({}, client);
    gate.release();
    await turns(() => service.seen.length === 1);
    const second = send({ signal: controller.signal }, client);
    gate.release();
    await new Promise(setImmediate);
    controller.abort();
    expect(await failureOf(second)).toMatchObject({ name: 'AbortError' });
    expect(gate.verdicts).toEqual(['ignored']);
    answer();
    await (await first).body.dump();
    await one.close();
    expect(service.seen).toEqual(['GET /']);
  });
});

describe('a request that is refused', () => {
  it('is not sent, fails with the refusal itself, and says nothing about the peer', async () => {
    gate.decision = { refuse: refusal };
    expect(await failureOf(send())).toBe(refusal);
    gate.decision = { refuse: new RuntimeClosedError() };
    expect(await failureOf(send())).toBeInstanceOf(RuntimeClosedError);
    expect(gate.verdicts).toEqual([]);
    expect(service.seen).toEqual([]);
  });

  it('loses its body, which is destroyed', async () => {
    gate.decision = { refuse: refusal };
    const body = new PassThrough();
    expect(await failureOf(send({ method: 'POST', body }))).toBe(refusal);
    expect(body.destroyed).toBe(true);
  });

  it('is not retried by an interceptor of undici', async () => {
    gate.decision = { refuse: refusal };
    const client = agent.compose(createUndiciInterceptor({ gate }), interceptors.retry());
    expect(await failureOf(send({}, client))).toBe(refusal);
    expect(gate.asked).toHaveLength(1);
  });
});

describe('a response', () => {
  it('settles its request when it has ended, once', async () => {
    let finish = () => {};
    service.answer = (_request, response) => {
      response.write('a');
      finish = () => response.end('b');
    };
    const { body } = await send();
    const reading = body.text();
    await new Promise(setImmediate);
    expect(gate.verdicts).toEqual([]);
    finish();
    expect(await reading).toBe('ab');
    await turns(() => gate.verdicts.length > 0);
    expect(gate.verdicts).toEqual(['success']);
  });

  it('settles its request at the head when that is bad, whoever reads the rest', async () => {
    service.answer = (_request, response) => void response.writeHead(503).write('never ends');
    const { body } = await send();
    await turns(() => gate.verdicts.length > 0);
    expect(gate.verdicts).toEqual(['busy']);
    body.on('error', () => {}).destroy();
  });

  it('whose reader leaves early says nothing about the peer', async () => {
    service.answer = (_request, response) => void response.write('a');
    const { body } = await send();
    body.on('error', () => {}).destroy();
    const controller = new AbortController();
    const second = await send({ signal: controller.signal });
    controller.abort('a string');
    expect(await failureOf(second.body.text())).toBeDefined();
    await turns(() => gate.verdicts.length === 2);
    expect(gate.verdicts).toEqual(['ignored', 'ignored']);
    expect(gate.asked.map(({ signal }) => signal?.aborted)).toEqual([true, true]);
  });

  it('that the sender no longer waits for says nothing about the peer, whatever the reason', async () => {
    service.answer = () => {};
    const reasons = [new Error('enough'), 'a string', { code: 'ECONNRESET' }, undefined];
    for (const reason of reasons) {
      const controller = new AbortController();
      const sent = send({ signal: controller.signal });
      const before = service.seen.length;
      await turns(() => service.seen.length > before);
      controller.abort(reason);
      expect(await failureOf(sent)).toBe(controller.signal.reason);
    }
    await turns(() => gate.verdicts.length === reasons.length);
    expect(gate.verdicts).toEqual(['ignored', 'ignored', 'ignored', 'ignored']);
  });

  it.each([
    ['before its head', false],
    ['in its middle', true],
  ])('whose connection is reset %s is a failure', async (_when, withHead) => {
    service.answer = (request, response) => {
      if (withHead) response.write('a', () => request.socket.resetAndDestroy());
      else request.socket.resetAndDestroy();
    };
    const failure = await failureOf(send().then(({ body }) => body.text()));
    expect((failure as NodeJS.ErrnoException).code).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    await turns(() => gate.verdicts.length > 0);
    const infinite = { kind: 'failure', retryAfterMs: Number.POSITIVE_INFINITY };
    expect(gate.verdicts).toEqual([withHead ? infinite : 'failure']);
  });

  it('that never comes is a failure: no connection, no head in time', async () => {
    const origin = `http://127.0.0.1:${await closedPort()}`;
    expect(await failureOf(send({ origin }))).toMatchObject({ code: 'ECONNREFUSED' });
    service.answer = () => {};
    const failure = await failureOf(send({ headersTimeout: 1 }));
    expect(failure).toBeInstanceOf(errors.HeadersTimeoutError);
    await turns(() => gate.verdicts.length === 2);
    expect(gate.verdicts).toEqual(['failure', 'failure']);
  });

  it('that cannot come for a reason on this side says nothing about the peer', async () => {
    async function* halting() {
      yield 'a';
      throw new Error('mine');
    }
    service.answer = () => {};
    expect(await failureOf(send({ method: 'POST', body: halting() as never }))).toMatchObject({
      message: 'mine',
    });
    const stream = new PassThrough();
    stream.write('a');
    const streaming = send({ path: '/stream', method: 'POST', body: stream });
    await turns(() => service.seen.includes('POST /stream'));
    stream.destroy(new Error('mine too'));
    expect(await failureOf(streaming)).toMatchObject({ message: 'mine too' });
    expect(await failureOf(send({ headers: { 'bad name': '1' } }))).toMatchObject({
      code: 'UND_ERR_INVALID_ARG',
    });
    const doomed = new Agent();
    const destroyed = send({}, doomed.compose(createUndiciInterceptor({ gate })));
    await turns(() => service.seen.includes('GET /'));
    await doomed.destroy();
    expect(await failureOf(destroyed)).toMatchObject({ code: 'UND_ERR_DESTROYED' });
    await turns(() => gate.verdicts.length === 4);
    expect(gate.verdicts).toEqual(['ignored', 'ignored', 'ignored', 'ignored']);
  });

  it.each(['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd'] as const)(
    'whose reader throws in %s says nothing about the peer',
    async (name) => {
      const thrown = new Error(name);
      const failure = await new Promise<Error>((resolve) => {
        gated().dispatch(
          { origin: service.origin, path: '/', method: 'GET' },
          {
            onRequestStart: () => {},
            onResponseError: (_controller, error) => resolve(error),
            [name]: () => {
              throw thrown;
            },
          },
        );
      });
      expect(failure).toBe(thrown);
      await turns(() => gate.verdicts.length > 0);
      // At the end, the peer has done its part.
      expect(gate.verdicts).toEqual([name === 'onResponseEnd' ? 'success' : 'ignored']);
    },
  );

  it('is paused and resumed by its reader', async () => {
    const size = 100_000;
    let written = false;
    service.answer = (_request, response) => {
      response.end(Buffer.alloc(size), () => {
        written = true;
      });
    };
    let bytes = 0;
    let controller: Dispatcher.DispatchController | undefined;
    const ended = new Promise<void>((resolve, reject) => {
      gated().dispatch(
        { origin: service.origin, path: '/', method: 'GET' },
        {
          onRequestStart: () => {},
          onResponseStart: (given) => {
            controller = given;
            given.pause();
          },
          onResponseData: (_controller, chunk) => {
            bytes += chunk.length;
          },
          onResponseEnd: () => resolve(),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
    await turns(() => written && controller !== undefined);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect([bytes, controller?.paused]).toEqual([0, true]);
    controller?.resume();
    await ended;
    expect(bytes).toBe(size);
  });

  it('of status 1xx is passed on before the one that counts', async () => {
    service.answer = (_request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.end('ok');
    };
    const infos: number[] = [];
    const { body } = await send({ onInfo: ({ statusCode }) => infos.push(statusCode) });
    expect([await body.text(), infos]).toEqual(['ok', [103]]);
  });
});

describe('tunnels', () => {
  it('are opened by upgrades and CONNECT, and are no longer calls then', async () => {
    service.tunnel = (request, socket) => {
      const head = request.method === 'CONNECT' ? '200 OK' : '101 Switching Protocols';
      socket.write(`HTTP/1.1 ${head}\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n`);
      socket.pipe(socket);
    };
    const client = gated();
    const { origin } = service;
    const upgraded = await client.upgrade({ origin, path: '/', protocol: 'echo' } as never);
    const connected = await client.connect({ origin, path: 'far:1' });
    await turns(() => gate.verdicts.length === 2);
    expect(gate.verdicts).toEqual(['success', 'success']);
    for (const { socket } of [upgraded, connected]) {
      socket.write('hello');
      expect(String((await once(socket, 'data'))[0])).toBe('hello');
      socket.destroy();
    }
    expect(service.seen).toEqual(['GET /', 'CONNECT far:1']);
    expect(gate.asked.map(({ retry }) => retry)).toEqual([false, false]);
  });
});

describe('redirects', () => {
  let other: HttpService;
  beforeEach(async () => {
    other = await startHttpService();
    service.answer = (request, response) => {
      const hop = request.url === '/' ? '/second' : `${other.origin}/third`;
      response.writeHead(302, { location: hop }).end();
    };
  });
  afterEach(() => other.stop());

  it('outside of it: each hop is a call of its own to its own address', async () => {
    const redirect = interceptors.redirect({ maxRedirections: 5 });
    const client = agent.compose(createUndiciInterceptor({ gate }), redirect);
    const { body, context } = await send({}, client);
    expect(await body.text()).toBe('ok');
    expect((context as { history: URL[] }).history.map(String)).toHaveLength(3);
    const addresses = gate.asked.map(({ address }) => address);
    expect(addresses).toEqual([service.origin, service.origin, other.origin]);
    await turns(() => gate.verdicts.length === 3);
    expect(gate.verdicts).toEqual(['success', 'success', 'success']);
  });

  it.each(['go', 'hold'] as const)(
    'inside of it: all hops are one call to the first address (%s)',
    async (decision) => {
      gate.decision = decision;
      const redirect = interceptors.redirect({ maxRedirections: 5 });
      const client = agent.compose(redirect, createUndiciInterceptor({ gate }));
      const sent = send({}, client);
      gate.release();
      const { body, context } = await sent;
      expect(await body.text()).toBe('ok');
      expect((context as { history: URL[] }).history.map(String)).toHaveLength(3);
      expect(gate.asked.map(({ address }) => address)).toEqual([service.origin]);
      await turns(() => gate.verdicts.length === 1);
      expect(gate.verdicts).toEqual(['success']);
    },
  );

  it('inside of it: a failure of another address is not blamed on the first', async () => {
    const redirect = interceptors.redirect({ maxRedirections: 5 });
    const client = agent.compose(redirect, createUndiciInterceptor({ gate }));
    other.answer = (_request, response) => void response.writeHead(500).end();
    await (await send({}, client)).body.dump();
    other.answer = (request) => void request.socket.resetAndDestroy();
    await failureOf(send({}, client));
    service.answer = (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/second' }).end();
      else response.writeHead(500).end();
    };
    await (await send({}, client)).body.dump();
    await turns(() => gate.verdicts.length === 3);
    expect(gate.verdicts).toEqual(['ignored', 'ignored', 'failure']);
  });
});

describe('other interceptors below', () => {
  it('may turn a bad status into an error: it is what the status is', async () => {
    service.answer = (_request, response) =>
      void response.writeHead(503, { 'retry-after': '1' }).end('no');
    const client = agent.compose(interceptors.responseError(), createUndiciInterceptor({ gate }));
    expect(await failureOf(send({}, client))).toMatchObject({ statusCode: 503 });
    await turns(() => gate.verdicts.length > 0);
    expect(gate.verdicts).toEqual([{ kind: 'busy', retryAfterMs: 1000 }]);
  });

  it('may be a mock, which cannot pause', async () => {
    const mock = new MockAgent();
    mock.disableNetConnect();
    mock.get('http://far').intercept({ path: '/' }).reply(503, 'busy').times(2);
    const client = mock.compose(createUndiciInterceptor({ gate, retry: { maxAttempts: 2 } }));
    const { statusCode, body } = await send({ origin: 'http://far' }, client);
    expect([statusCode, await body.text()]).toEqual([503, 'busy']);
    const posted = await send({ origin: 'http://far', method: 'GET', idempotent: false }, client);
    expect(await posted.body.text()).toBe('busy');
    expect(gate.verdicts).toEqual(['busy', 'busy']);
    await mock.close();
  });
});

describe('fetch', () => {
  const before = getGlobalDispatcher();
  afterEach(() => setGlobalDispatcher(before));

  const kinds = [
    ['of undici', undiciFetch as unknown as typeof fetch],
    ['of Node', fetch],
  ] as const;

  it.each(kinds)('%s goes through the gate of the global dispatcher', async (_of, fetchIt) => {
    setGlobalDispatcher(gated({ table: ({ header }) => header('x-table') }));
    const response = await fetchIt(`${service.origin}/a?b=1`, {
      method: 'POST',
      body: 'text',
      headers: { 'X-Table': 't' },
    });
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    expect(gate.asked).toMatchObject([{ table: 't', address: service.origin, retry: false }]);
    await turns(() => gate.verdicts.length > 0);
    expect(gate.verdicts).toEqual(['success']);
    expect(service.seen).toEqual(['POST /a?b=1']);
  });

  it.each(kinds)('%s has a refusal as the cause of its TypeError', async (_of, fetchIt) => {
    gate.decision = { refuse: refusal };
    setGlobalDispatcher(gated());
    const failure = await failureOf(fetchIt(service.origin));
    expect(failure).toBeInstanceOf(TypeError);
    expect((failure as Error).cause).toBe(refusal);
  });

  it.each(kinds)('%s can be aborted while it waits, and in the middle', async (_of, fetchIt) => {
    gate.decision = 'hold';
    setGlobalDispatcher(gated());
    const waiting = new AbortController();
    const sent = fetchIt(service.origin, { signal: waiting.signal });
    await turns(() => gate.asked.length === 1);
    waiting.abort();
    expect(await failureOf(sent)).toMatchObject({ name: 'AbortError' });
    expect(gate.asked[0]?.signal?.aborted).toBe(true);
    expect(service.seen).toEqual([]);

    gate.decision = 'go';
    service.answer = (_request, response) => void response.write('a');
    const reading = new AbortController();
    const response = await fetchIt(service.origin, { signal: reading.signal });
    reading.abort();
    expect(await failureOf(response.text())).toMatchObject({ name: 'AbortError' });
    expect(gate.asked[1]?.signal?.aborted).toBe(true);
  });

  it.each(kinds)('%s follows redirects itself: each hop is a call', async (_of, fetchIt) => {
    service.answer = (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/next' }).end();
      else response.end('there');
    };
    for (const decision of ['go', 'hold'] as const) {
      gate.decision = decision;
      setGlobalDispatcher(gated());
      const sent = fetchIt(service.origin);
      const held = gate.asked.length;
      for (const hop of [1, 2]) {
        await turns(() => gate.asked.length >= held + hop - 1);
        gate.release();
        await new Promise(setImmediate);
      }
      const releasing = setInterval(() => gate.release(), 1);
      expect(await (await sent).text()).toBe('there');
      clearInterval(releasing);
    }
    expect(service.seen).toEqual(['GET /', 'GET /next', 'GET /', 'GET /next']);
  });
});

describe('in the long run', () => {
  it('a thousand requests use one connection and leave no listener', async () => {
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown) => warnings.push(warning);
    process.on('warning', onWarning);
    const { signal } = new AbortController();
    const one = new Agent({ connections: 1 });
    const client = one.compose(createUndiciInterceptor({ gate }));
    for (let n = 0; n < 1000; n++) {
      const { body } = await send({ signal }, client);
      expect(await body.text()).toBe('ok');
    }
    // Streams of undici stop listening when they close, which is a turn later.
    await turns(() => getEventListeners(signal, 'abort').length === 0);
    expect(gate.asked).toHaveLength(1000);
    await turns(() => gate.verdicts.length === 1000);
    expect(new Set(gate.verdicts)).toEqual(new Set(['success']));
    expect(service.connections()).toBe(1);
    await one.close();
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

describe('which requests may be sent twice', () => {
  const retry = { maxAttempts: 2 };
  const form = new FormData();
  form.set('a', '1');
  it.each<[string, Sent, Partial<UndiciInterceptorOptions>, boolean]>([
    ['GET', {}, {}, true],
    ['PUT with bytes', { method: 'PUT', body: new Uint8Array([1]) }, {}, true],
    ['PUT with a form', { method: 'PUT', body: form }, {}, true],
    ['POST', { method: 'POST', body: 'a' }, {}, false],
    ['POST that says so itself', { method: 'POST', body: 'a', idempotent: true }, {}, true],
    ['GET that says it may not', { idempotent: false }, {}, false],
    ['POST that the option names', { method: 'POST' }, { idempotent: () => true }, true],
    ['GET that the option names', {}, { idempotent: () => false }, false],
    ['PUT with a stream', { method: 'PUT', body: Readable.from(['a']) }, {}, false],
  ])('%s', async (_name, sent, options, may) => {
    await (await send(sent, gated({ retry, ...options }))).body.dump();
    expect(gate.asked).toMatchObject([{ retry: may ? retry : false }]);
  });
});

describe('options', () => {
  it.each([
    [
      'rpc',
      async () => 'http',
      'rpc must return a string or undefined, got [object Promise] (object)',
    ],
    [
      'idempotent',
      async () => false,
      'idempotent must return a boolean, got [object Promise] (object)',
    ],
    ['idempotent', () => 'false', "idempotent must return a boolean, got 'false'"],
  ])(
    'fails a request whose %s callback returns what is no answer',
    async (name, callback, message) => {
      const client = gated({ retry: { maxAttempts: 3 }, [name]: callback as never });
      const error = await failureOf(send({ method: 'POST', body: 'x' }, client));
      expect((error as Error).message).toBe(message);
      expect(service.seen).toHaveLength(0);
    },
  );

  it.each<[object, string | RegExp]>([
    [{ gate: undefined }, 'gate must be a gate, see attach()'],
    [{ table: 'a' }, "table must be a function, got 'a'"],
    [{ weight: 1 }, 'weight must be a function, got 1'],
    [{ classify: {} }, 'classify must be a function, got [object Object] (object)'],
    [{ idempotent: true }, 'idempotent must be a function, got true'],
    [{ rpc: 5 }, 'rpc must be a string or a function, got 5'],
    [{ address: '' }, "address must be a string or a function, got ''"],
    [{ maxWaitMs: -1 }, 'maxWaitMs must be from 0 to 86400000, got -1'],
    [{ maxWaitMs: Number.NaN }, 'maxWaitMs must be from 0 to 86400000, got NaN'],
    [{ retry: true }, 'retry must be an object or false, got true'],
    [{ timeout: 1 }, /^timeout is no option, there are gate, rpc, .*, unknownRpc$/],
    [{ retry: { attempts: 3 } }, /^retry.attempts is no option, there are maxAttempts, /],
    [{ unknownRpc: 'drop' }, "unknownRpc must be 'pass' or 'refuse', got 'drop'"],
  ])('%j are refused', (options, message) => {
    expect(() => gated(options)).toThrow(message);
  });
});
