import { availableParallelism } from 'node:os';
import { PassThrough, Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createUndiciInterceptor,
  type UndiciInterceptorOptions,
} from '../../dist/adapters/undici.js';
import {
  AttemptTimeoutError,
  CircuitOpenError,
  createRuntime,
  RateLimitExceededError,
  type Runtime,
  type RuntimeOptions,
} from '../../dist/index.js';
import { until } from '../threads/until.js';
import { closedPort, type HttpService, startHttpService } from './loopback-http.js';

let service: HttpService;
let runtime: Runtime;
let client: Dispatcher;
let agent: Agent;
beforeEach(async () => {
  service = await startHttpService();
  agent = new Agent({ keepAliveTimeout: 60_000 });
});
afterEach(async () => {
  await agent.destroy();
  await service.stop();
  await runtime.close({ deadlineMs: 0 });
});

const NO_DELAY = { baseDelayMs: 0, maxDelayMs: 0 };

async function connect(
  settings: RuntimeOptions = {},
  options: Partial<UndiciInterceptorOptions> = {},
): Promise<void> {
  runtime = await createRuntime({ host: { rpcs: { http: { qpsPerCore: 0 } } }, ...settings });
  client = agent.compose(createUndiciInterceptor({ gate: runtime.gate, ...options }));
}

/** A permit each `everyMs`, after the first. */
const limited = (everyMs: number): RuntimeOptions => ({
  host: { rpcs: { http: { qpsPerCore: 1000 / everyMs / availableParallelism(), burst: 1 } } },
});

const send = (options: Partial<Dispatcher.RequestOptions> = {}) =>
  client.request({ origin: service.origin, path: '/', method: 'GET', ...options });
const text = async (options?: Partial<Dispatcher.RequestOptions>) => {
  const { statusCode, body } = await send(options);
  return `${statusCode} ${await body.text()}`;
};
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => ({ notRejectedBut: value }),
    (error: unknown) => error,
  );
const totals = () => runtime.snapshot().rpcs.find(({ rpc }) => rpc === 'http');

/** Answers the first requests with these statuses, every other one with 200. */
function answerFirst(...statuses: number[]): void {
  service.answer = (_request, response) => {
    const status = statuses.shift() ?? 200;
    response.writeHead(status).end(status === 200 ? 'fine' : `${status} in full`);
  };
}

async function conserved(): Promise<void> {
  await until('everything is settled', () => runtime.snapshot().conservation.held === 0);
  expect(runtime.snapshot().conservation.ok).toBe(true);
}

describe('requests through the gate of a runtime', () => {
  it('are spaced, refused with the error of the gate, and pay once each', async () => {
    await connect(limited(20));
    const sent = await Promise.all([text(), text(), text(), text()]);
    expect(sent).toEqual(['200 ok', '200 ok', '200 ok', '200 ok']);
    await until('they have settled', () => totals()?.outcomes.success === 4);
    expect(totals()).toMatchObject({ calls: 4, spent: 4 });
    await runtime.updateConfig({ waiting: { maxWaitMs: 0 } });
    const refusals = (await Promise.all([1, 2, 3].map(() => failureOf(text())))).filter(
      (end) => typeof end !== 'object' || !('notRejectedBut' in (end as object)),
    );
    expect(refusals.length).toBeGreaterThanOrEqual(2);
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(RateLimitExceededError);
    await conserved();
  });

  it('take no permit when they are aborted, or their body is gone, while they wait', async () => {
    await connect(limited(60_000), { maxWaitMs: 80_000_000 });
    expect(await text()).toBe('200 ok');
    const controller = new AbortController();
    const aborted = send({ signal: controller.signal });
    const body = new PassThrough();
    const bodiless = send({ method: 'POST', body });
    await until('both wait', () => runtime.gate.limiter('http').waiting === 2);
    controller.abort();
    body.destroy(new Error('gone'));
    expect(await failureOf(aborted)).toMatchObject({ name: 'AbortError' });
    expect(await failureOf(bodiless)).toMatchObject({ message: 'gone' });
    expect(runtime.gate.limiter('http').waiting).toBe(0);
    await conserved();
    expect(totals()).toMatchObject({ calls: 1, spent: 1 });
    expect(service.seen).toEqual(['GET /']);
  });

  it('that the peer answers with 503 slow their table, and no other', async () => {
    await connect(
      {
        host: { enabled: false },
        tables: { enabled: true, rpcs: ['http'], topK: 1, upgradeIntervalMs: 100 },
      },
      { table: ({ header }) => header('x-table') },
    );
    service.answer = (request, response) => {
      response.writeHead(request.headers['x-table'] === 'hot' ? 503 : 200).end();
    };
    const storm = async (table: string, times: number) => {
      for (let n = 0; n < times; n++)
        await send({ headers: { 'x-table': table } }).then(({ body }) => body.dump());
    };
    const limits = () => runtime.snapshot().limits.map(({ table }) => table);
    await storm('cold', 5);
    while (limits().length === 0) await storm('hot', 20);
    expect(limits()).toEqual(['hot']);
    expect(totals()?.busy).toBeGreaterThan(0);
  });
});

describe('retries', () => {
  it('follow a bad status or a reset, each through the gate again', async () => {
    await connect({}, { retry: { ...NO_DELAY, maxAttempts: 5 } });
    const statuses = [503, 0, 500];
    service.answer = (request, response) => {
      const status = statuses.shift();
      if (status === 0) request.socket.resetAndDestroy();
      else response.writeHead(status ?? 200).end('fine');
    };
    expect(await text()).toBe('200 fine');
    await until('it has settled', () => totals()?.outcomes.success === 1);
    expect(totals()).toMatchObject({ calls: 4, retries: 3, busy: 1, outcomes: { failure: 2 } });
    expect(service.seen).toHaveLength(4);
  });

  it('end with the last response as it came, or the last error', async () => {
    await connect({}, { retry: { ...NO_DELAY, maxAttempts: 2 } });
    answerFirst(503, 500);
    expect(await text()).toBe('500 500 in full');
    const origin = `http://127.0.0.1:${await closedPort()}`;
    expect(await failureOf(send({ origin }))).toMatchObject({ code: 'ECONNREFUSED' });
    expect(totals()).toMatchObject({ calls: 4, retries: 2 });
  });

  it('hold a response without reading its body, and drain those that are not wanted', async () => {
    await connect({}, { retry: { ...NO_DELAY, maxAttempts: 3 } });
    const size = 50_000;
    let asked = 0;
    service.answer = (_request, response) => {
      asked += 1;
      response.writeHead(503).end(Buffer.alloc(size, String(asked)));
    };
    const { body } = await send();
    expect(await body.text()).toBe('3'.repeat(size));
    expect(asked).toBe(3);
    // A body without end is cut off.
    asked = 0;
    let cut = 0;
    service.answer = (_request, response) => {
      asked += 1;
      if (asked === 3) return void response.end('fine');
      response.on('close', () => {
        cut += 1;
      });
      response.writeHead(503);
      const pour = () => {
        while (!response.destroyed && response.write(Buffer.alloc(10_000)));
      };
      response.on('drain', pour);
      pour();
    };
    expect(await text()).toBe('200 fine');
    await until('both are cut off', () => cut === 2);
  });

  it('follow neither unsafe requests, nor bodies that are streams, nor a response in its middle', async () => {
    await connect({}, { retry: { ...NO_DELAY, maxAttempts: 3 }, idempotent: () => true });
    answerFirst(503);
    const body = Readable.from(['a']);
    expect(await text({ method: 'PUT', body })).toBe('503 503 in full');
    service.answer = (request, response) => {
      response.write('a', () => request.socket.resetAndDestroy());
    };
    expect(await failureOf(text())).toMatchObject({ code: expect.stringMatching(/^(ECONN|UND)/) });
    expect(service.seen).toHaveLength(2);
    await until('it is counted', () => totals()?.outcomes.failure === 1);
    expect(totals()).toMatchObject({ calls: 2, retries: 0 });
  });

  it('wait for Retry-After within the bound, and do not wait beyond it', async () => {
    await connect({}, { retry: { ...NO_DELAY, maxAttempts: 3, maxRetryAfterMs: 1500 } });
    const hints = ['0', '1', '2'];
    const times: number[] = [];
    service.answer = (_request, response) => {
      times.push(performance.now());
      const hint = hints.shift();
      response.writeHead(429, { 'retry-after': String(hint) }).end(`after ${hint}`);
    };
    expect(await text()).toBe('429 after 2');
    expect((times[2] as number) - (times[1] as number)).toBeGreaterThanOrEqual(999);
    hints.push('3000000');
    expect(await text()).toBe('429 after 3000000');
    expect(times).toHaveLength(4);
  });

  it('leave the connection to others while they back off', async () => {
    await agent.destroy();
    agent = new Agent({ connections: 1, keepAliveTimeout: 60_000 });
    await connect({}, { retry: { ...NO_DELAY, maxAttempts: 2, maxRetryAfterMs: 1500 } });
    service.answer = (_request, response) => {
      const isFirst = service.seen.length === 1;
      response.writeHead(isFirst ? 503 : 200, isFirst ? { 'retry-after': '1' } : {});
      response.end(isFirst ? Buffer.alloc(100_000) : 'fine');
    };
    const retried = text({ path: '/retried' });
    await until('it backs off', () => totals()?.retries === 1);
    expect(await text({ path: '/other' })).toBe('200 fine');
    expect(service.seen).toEqual(['GET /retried', 'GET /other']);
    expect(await retried).toBe('200 fine');
    expect(service.connections()).toBe(1);
  });

  it('are bounded by the budget', async () => {
    await connect(
      { retry: { budgetBurst: 1, budgetRatio: 0, budgetPerSecond: 0 } },
      { retry: { ...NO_DELAY, maxAttempts: 2 } },
    );
    answerFirst(503, 503, 503);
    expect(await text()).toBe('503 503 in full');
    expect(await text()).toBe('503 503 in full');
    expect(totals()).toMatchObject({ calls: 3, retries: 1, retriesDenied: 1 });
  });

  it('end when the caller aborts between two attempts', async () => {
    await connect({}, { retry: { maxAttempts: 2, maxRetryAfterMs: 60_000 } });
    service.answer = (_request, response) =>
      void response.writeHead(503, { 'retry-after': '50' }).end('later');
    const controller = new AbortController();
    const sent = send({ signal: controller.signal });
    await until('it backs off', () => totals()?.retries === 1);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await failureOf(sent)).toBe(reason);
    await conserved();
    expect(service.seen).toHaveLength(1);
  });
});

describe('attempt time-outs', () => {
  it('leave an attempt behind, and another may follow', async () => {
    await connect({ retry: { attemptTimeoutMs: 50 } }, { retry: { ...NO_DELAY, maxAttempts: 2 } });
    let cut = 0;
    service.answer = (_request, response) => {
      if (service.seen.length === 2) response.end('fine');
      else response.on('close', () => (cut += 1));
    };
    expect(await text()).toBe('200 fine');
    await until('the first is cut off', () => cut === 1);
    service.answer = (_request, response) => void response.on('close', () => (cut += 1));
    expect(await failureOf(send())).toBeInstanceOf(AttemptTimeoutError);
    await until('all are cut off', () => cut === 3);
    expect(totals()).toMatchObject({ calls: 4, retries: 2, timeouts: 3 });
  });

  it('end a response that has begun, and none follows', async () => {
    await connect(
      { retry: { attemptTimeoutMs: 50 } },
      { retry: { baseDelayMs: 60_000, maxDelayMs: 60_000, maxAttempts: 2 } },
    );
    service.answer = (_request, response) => void response.write('a');
    const { body } = await send();
    expect(await failureOf(body.text())).toBeInstanceOf(AttemptTimeoutError);
    await until('the call has ended', () => runtime.snapshot().conservation.held === 0);
    expect(totals()).toMatchObject({ calls: 1, timeouts: 1 });
    expect(service.seen).toHaveLength(1);
  });
});

describe('the circuit of an address', () => {
  it('opens after failures and refuses with an error unlike those of HTTP', async () => {
    await connect({ breaker: { failureThreshold: 3 } });
    service.answer = (request, response) => {
      if (request.url === '/500') response.writeHead(500).end();
      else if (request.url === '/reset') request.socket.resetAndDestroy();
      else response.writeHead(503).end();
    };
    for (const path of ['/500', '/reset', '/503', '/500', '/reset'])
      await failureOf(text({ path }));
    // 503 is the answer of a living peer.
    expect(service.seen).toHaveLength(5);
    await failureOf(text({ path: '/reset' }));
    const refusal = await failureOf(text());
    expect(refusal).toBeInstanceOf(CircuitOpenError);
    expect(refusal).toMatchObject({ address: service.origin.slice('http://'.length) });
    expect(service.seen).toHaveLength(6);
    await conserved();
  });

  it('closes with a good head, however long the rest takes', async () => {
    await connect({ breaker: { failureThreshold: 1, cooldownMs: 1 } });
    service.answer = (request) => request.socket.resetAndDestroy();
    await failureOf(text());
    const state = () => runtime.gate.breaker(service.origin).state();
    expect(state().state).toBe('open');
    await until('it may be probed', () => state().retryAfterMs === 0);
    service.answer = (request, response) =>
      void (request.url === '/long' ? response.write('a') : response.end('fine'));
    const { body } = await send({ path: '/long' });
    expect(state().state).toBe('closed');
    expect(await text({ path: '/other' })).toBe('200 fine');
    body.on('error', () => {}).destroy();
    await conserved();
    expect(state()).toMatchObject({ state: 'closed', consecutiveFailures: 0 });
  });

  it('stays closed when callers leave', async () => {
    await connect({ breaker: { failureThreshold: 1 } });
    service.answer = (_request, response) => void response.write('a');
    for (let n = 0; n < 5; n++) {
      const { body } = await send();
      const closed = new Promise((resolve) => body.once('close', resolve));
      body.on('error', () => {}).destroy();
      await closed;
    }
    await until('they are counted', () => totals()?.outcomes.ignored === 5);
    expect(runtime.snapshot().breaker.tracked).toBe(0);
  });

  it('ends a retry that it refuses, with the bad response as the cause', async () => {
    await connect({ breaker: { failureThreshold: 1 } }, { retry: { ...NO_DELAY, maxAttempts: 2 } });
    answerFirst(500);
    const refusal = await failureOf(text());
    expect(refusal).toBeInstanceOf(CircuitOpenError);
    expect(refusal).toMatchObject({ cause: { status: 500 } });
    expect(service.seen).toHaveLength(1);
  });
});

describe('a runtime that closes', () => {
  it('ends requests that wait, and takes no more', async () => {
    await connect(limited(60_000), { maxWaitMs: 80_000_000 });
    expect(await text()).toBe('200 ok');
    const waiting = failureOf(send());
    await until('it waits', () => runtime.gate.limiter('http').waiting === 1);
    await runtime.close({ deadlineMs: 0 });
    expect(await waiting).toMatchObject({ code: 'ERR_SPILLWAY_RUNTIME_CLOSED' });
    expect(await failureOf(send())).toMatchObject({ code: 'ERR_SPILLWAY_RUNTIME_CLOSED' });
  });
});

describe('whatever happens to requests', () => {
  it('permits are conserved, and each request ends once', async () => {
    await connect(
      { ...limited(1), breaker: { enabled: false } },
      { retry: { ...NO_DELAY, maxAttempts: 2 } },
    );
    service.answer = (request, response) => {
      const kind = request.url?.slice(1);
      if (kind === 'reset') request.socket.resetAndDestroy();
      else if (kind === 'middle') response.write('a', () => request.socket.resetAndDestroy());
      else if (kind === 'hang') response.write('a');
      else if (kind === 'busy') response.writeHead(503).end('busy');
      else response.end('fine');
    };
    const kinds = ['fine', 'busy', 'reset', 'middle', 'hang', 'early'];
    const ends = await Promise.all(
      Array.from({ length: 120 }, async (_, n) => {
        const path = `/${kinds[n % kinds.length]}`;
        const controller = new AbortController();
        const { signal } = controller;
        if (path === '/early') setImmediate(() => controller.abort());
        const sent = send({ path, signal });
        if (path === '/hang')
          sent.then(
            () => setImmediate(() => controller.abort()),
            () => {},
          );
        return failureOf(sent.then(({ body }) => body.text()));
      }),
    );
    expect(ends).toHaveLength(120);
    await until('all have settled', () => {
      const { outcomes, busy, calls } = totals() ?? {};
      const settled = Object.values(outcomes ?? {}).reduce((sum, count) => sum + count, busy ?? 0);
      return settled === calls;
    });
    await conserved();
  });
});
