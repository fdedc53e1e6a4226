import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FastifyPressureOptions, fastifyPressure } from '../../src/adapters/fastify.js';

let app: FastifyInstance;
let pressure: number;
let handled: number;

beforeEach(() => {
  app = fastify();
  pressure = 0;
  handled = 0;
});
afterEach(() => app.close());

async function start(options: Partial<FastifyPressureOptions> = {}): Promise<void> {
  await app.register(fastifyPressure, { source: { pressure: () => pressure }, ...options });
  app.get('/', async () => {
    handled += 1;
    return { ok: true };
  });
  app.get('/shard/:id', async () => 'shard');
  app.get('/health', async () => 'well');
  app.get('/broken', async () => {
    throw new Error('broken');
  });
  await app.ready();
}

describe('the fastify plugin', () => {
  it('says nothing without a pressure, and how high it is with one, on every answer', async () => {
    await start();
    const calm = await app.inject('/');
    expect(calm.headers).not.toHaveProperty('spillway-pressure');
    pressure = 0.123_456;
    for (const [path, status] of Object.entries({ '/': 200, '/broken': 500, '/nowhere': 404 })) {
      const answer = await app.inject(path);
      expect([path, answer.statusCode, answer.headers['spillway-pressure']]).toEqual([
        path,
        status,
        '0.1235',
      ]);
    }
  });

  it('refuses at the hard limit with 503 and Retry-After, before the handler', async () => {
    await start();
    pressure = 1;
    const { statusCode, headers, json } = await app.inject('/');
    expect(statusCode).toBe(503);
    expect(headers).toMatchObject({ 'retry-after': '1', 'spillway-pressure': '1' });
    expect(json()).toEqual({
      statusCode: 503,
      code: 'ERR_SPILLWAY_BUSY',
      error: 'Service Unavailable',
      message: 'the server is under too much pressure',
    });
    expect(handled).toBe(0);
    pressure = 0.99;
    expect((await app.inject('/')).statusCode).toBe(200);
  });

  it.each([
    [0, '1'],
    [1000, '1'],
    [1001, '2'],
    [90_000, '90'],
  ])('says after %d ms in whole seconds: %s', async (retryAfterMs, seconds) => {
    await start({ retryAfterMs, hardLimit: 0.5 });
    pressure = 0.5;
    const { statusCode, headers } = await app.inject('/');
    expect([statusCode, headers['retry-after']]).toEqual([503, seconds]);
  });

  it('never refuses with a hard limit of Infinity', async () => {
    await start({ hardLimit: Number.POSITIVE_INFINITY });
    pressure = 1;
    const { statusCode, headers } = await app.inject('/');
    expect([statusCode, headers['spillway-pressure']]).toEqual([200, '1']);
  });

  it('lets exempt requests through and tells them nothing', async () => {
    await start({ exempt: ({ url }) => url === '/health' });
    pressure = 1;
    const { statusCode, headers } = await app.inject('/health');
    expect(statusCode).toBe(200);
    expect(headers).not.toHaveProperty('spillway-pressure');
    expect((await app.inject('/')).statusCode).toBe(503);
  });

  it('tells buckets apart', async () => {
    await start({
      bucket: ({ params }) => (params as { id?: string }).id,
      source: { pressure: (bucket) => (bucket === '7' ? 1 : bucket === undefined ? 0 : 0.25) },
    });
    expect((await app.inject('/shard/7')).statusCode).toBe(503);
    expect((await app.inject('/shard/8')).headers['spillway-pressure']).toBe('0.25');
    expect((await app.inject('/')).headers).not.toHaveProperty('spillway-pressure');
  });

  it('answers although its source is broken, and reports that once', async () => {
    const faults: unknown[] = [];
    await start({
      source: {
        pressure() {
          throw new Error('no queue');
        },
      },
      onFault: (error) => faults.push(error),
    });
    for (let i = 0; i < 3; i += 1) expect((await app.inject('/')).statusCode).toBe(200);
    expect(faults).toHaveLength(1);
  });

  it('is in force for routes outside of where it was registered', async () => {
    await app.register(async (inner) => {
      inner.get('/inner', async () => 'inner');
    });
    pressure = 0.5;
    await start();
    expect((await app.inject('/inner')).headers['spillway-pressure']).toBe('0.5');
  });

  it('lets a source measure from the start to the close of the server', async () => {
    const log: string[] = [];
    await start({
      source: {
        pressure: () => 0,
        start() {
          log.push('start');
          return () => log.push('stop');
        },
      },
    });
    expect(log).toEqual(['start']);
    await app.close();
    expect(log).toEqual(['start', 'stop']);
  });

  it('fails the start of the server when a source cannot start', async () => {
    const fail = () => {
      throw new Error('no meter');
    };
    await expect(start({ source: { pressure: () => 0, start: fail } })).rejects.toThrow('no meter');
  });

  it('closes although a source fails to stop', async () => {
    const faults: unknown[] = [];
    const stop = () => {
      throw new Error('stuck');
    };
    await start({
      source: { pressure: () => 0, start: () => stop },
      onFault: (error) => faults.push(error),
    });
    await app.close();
    expect(faults).toEqual([new Error('stuck')]);
  });

  it.each([
    [{ hardLimit: 0 }, /^hardLimit must be above 0/],
    [{ hardLimit: '5' }, /^hardLimit must be a number, got '5'/],
    [{ hardLimit: null }, /^hardLimit must be a number, got null/],
    [{ retryAfterMs: '7' }, /^retryAfterMs must be a number, got '7'/],
    [{ retryAfterMs: -1 }, /^retryAfterMs must be from 0 to 86400000, got -1/],
    [{ retryAfterMs: Number.NaN }, /^retryAfterMs must be from 0 to 86400000, got NaN/],
    [{ sauce: 1 }, /^sauce is no option/],
  ])('fails the start of the server with %j', async (options, message) => {
    await expect(start(options as never)).rejects.toThrow(message);
  });

  it('takes a prefix, which fastify gives to every plugin', async () => {
    await start({ prefix: '/v1' } as never);
    expect((await app.inject('/')).statusCode).toBe(200);
  });
});
