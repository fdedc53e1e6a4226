import type { IncomingMessage } from 'node:http';
import { Metadata, status } from '@grpc/grpc-js';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  classifyGrpcOutcome,
  createGrpcInterceptor,
  type GrpcInterceptorOptions,
} from '../../src/adapters/grpc.js';
import { grpcPressure } from '../../src/adapters/grpc-pressure.js';
import {
  createUndiciInterceptor,
  type UndiciInterceptorOptions,
} from '../../src/adapters/undici.js';
import { FakeGate } from './fake-gate.js';
import { type HttpService, startHttpService } from './loopback-http.js';
import { type ScriptedService, startScriptedService } from './scripted-service.js';

let gate: FakeGate;
beforeEach(() => {
  gate = new FakeGate();
});

describe('the undici interceptor', () => {
  let service: HttpService;
  let agent: Agent;
  beforeEach(async () => {
    service = await startHttpService();
    agent = new Agent();
  });
  afterEach(async () => {
    await agent.destroy();
    await service.stop();
  });

  const answerWith = (header: string | string[], code = 200): void => {
    service.answer = (_request: IncomingMessage, response) =>
      void response.writeHead(code, { 'spillway-pressure': header }).end('ok');
  };

  const ask = async (options: Partial<UndiciInterceptorOptions> = {}): Promise<void> => {
    const client = agent.compose(createUndiciInterceptor({ gate, ...options }));
    const sent = { origin: service.origin, path: '/a', method: 'GET' } as const;
    const { body } = await client.request(sent);
    expect(await body.text()).toBe('ok');
    while (gate.verdicts.length < gate.asked.length) await new Promise(setImmediate);
  };

  it('takes the pressure of a response for its origin, unless told otherwise', async () => {
    answerWith('0.25');
    await ask();
    await ask({ address: 'peer:1' });
    await ask({ bucket: 'shard-1' });
    await ask({ bucket: ({ path }) => `shard ${path}` });
    await ask({ bucket: () => undefined });
    await ask({ address: () => undefined });
    expect(gate.asked.map(({ bucket }) => bucket)).toEqual([
      service.origin,
      'peer:1',
      'shard-1',
      'shard /a',
      undefined,
      undefined,
    ]);
    expect(new Set(gate.verdicts.map((v) => JSON.stringify(v)))).toEqual(
      new Set(['{"kind":"success","pressure":0.25}']),
    );
  });

  it.each<[string | string[], number | undefined]>([
    ['0.5', 0.5],
    ['1', 1],
    ['0', 0],
    ['7', 7],
    ['-1', -1],
    ['NaN', undefined],
    ['garbage', undefined],
    ['', undefined],
    [['0.1', '0.9'], 0.9],
    ['x'.repeat(10_240), undefined],
    ['9'.repeat(10_240), undefined],
  ])('takes %j for %d, and never for an error', async (header, pressure) => {
    answerWith(header);
    await ask();
    expect(gate.verdicts).toEqual([
      pressure === undefined ? 'success' : { kind: 'success', pressure },
    ]);
  });

  it.each([
    [503, { kind: 'busy', pressure: 0.5 }],
    [500, { kind: 'failure', pressure: 0.5 }],
    [404, { kind: 'ignored', pressure: 0.5 }],
  ])('keeps what the status %i says', async (code, verdict) => {
    answerWith('0.5', code);
    await ask({ retry: false });
    expect(gate.verdicts).toEqual([verdict]);
  });

  it('leaves the last word to classify', async () => {
    answerWith('0.5');
    await ask({ classify: () => ({ kind: 'success', pressure: 0.1 }) });
    await ask({ classify: () => 'busy', retry: false });
    expect(gate.verdicts).toMatchObject([
      { kind: 'success', pressure: 0.1 },
      { kind: 'busy', pressure: 0.5 },
    ]);
  });

  it('remembers the pressure of a response that breaks off', async () => {
    service.answer = (_request, response) => {
      response.writeHead(200, { 'spillway-pressure': '0.5', 'content-length': '10' });
      response.write('half');
      response.socket?.destroySoon();
    };
    const client = agent.compose(createUndiciInterceptor({ gate }));
    const { body } = await client.request({ origin: service.origin, path: '/', method: 'GET' });
    await expect(body.text()).rejects.toThrow();
    while (gate.verdicts.length === 0) await new Promise(setImmediate);
    expect(gate.verdicts).toMatchObject([{ kind: 'failure', pressure: 0.5 }]);
  });

  it('refuses a bucket that is neither a name nor a function', () => {
    for (const bucket of ['', 7] as never[])
      expect(() => createUndiciInterceptor({ gate, bucket })).toThrow(
        /^bucket must be a string or a function/,
      );
  });
});

describe('the gRPC interceptor', () => {
  let service: ScriptedService;
  beforeEach(async () => {
    service = await startScriptedService();
  });
  afterEach(() => service.stop());

  const ask = async (
    options: Partial<GrpcInterceptorOptions>,
    trailers: Record<string, string> = {},
  ): Promise<void> => {
    service.script.push({ kind: 'fail', code: status.NOT_FOUND, trailers });
    const interceptors = [createGrpcInterceptor({ gate, ...options })];
    const client = service.connect({ interceptors });
    await new Promise((resolve) => void client.Read('x', resolve));
    client.close();
  };

  it('takes the pressure of an answer for its address, unless told otherwise', async () => {
    await ask({});
    await ask({ address: 'peer:1' });
    await ask({ address: 'peer:1', bucket: 'shard-1' });
    await ask({ bucket: ({ path }) => `shard ${path}` });
    await ask({ address: 'peer:1', bucket: () => undefined });
    expect(gate.asked.map(({ bucket }) => bucket)).toEqual([
      undefined,
      'peer:1',
      'shard-1',
      'shard /test.Store/Read',
      undefined,
    ]);
  });

  it('leaves the last word to status', async () => {
    const trailers = { 'spillway-pressure': '0.5' };
    await ask({ status: () => ({ kind: 'busy', pressure: 0.1 }) }, trailers);
    await ask({ status: () => 'busy' }, trailers);
    await ask({}, trailers);
    expect(gate.verdicts).toEqual([
      { kind: 'busy', pressure: 0.1 },
      { kind: 'busy', pressure: 0.5 },
      { kind: 'ignored', pressure: 0.5 },
    ]);
  });

  it('refuses a bucket that is neither a name nor a function', () => {
    expect(() => createGrpcInterceptor({ gate, bucket: 7 as never })).toThrow(
      /^bucket must be a string or a function, got number/,
    );
  });
});

describe('the pressure in metadata', () => {
  const metadata = (...values: string[]): Metadata => {
    const made = new Metadata();
    for (const value of values) made.add('spillway-pressure', value);
    return made;
  };

  it('is that of the trailer, else that of the initial metadata', () => {
    expect(grpcPressure(metadata('0.1'), metadata('0.9'))).toBe(0.1);
    expect(grpcPressure(metadata(), metadata('0.9'))).toBe(0.9);
    expect(grpcPressure(metadata('nonsense'), metadata('0.9'))).toBe(0.9);
    expect(grpcPressure(undefined, undefined)).toBeUndefined();
  });

  it.each<[string[], number | undefined]>([
    [['0.1', '0.9'], 0.9],
    [['7'], 7],
    [['-1'], -1],
    [['NaN'], undefined],
    [['x'.repeat(10_240)], undefined],
  ])('%j is %d', (values, pressure) => {
    expect(grpcPressure(metadata(...values), undefined)).toBe(pressure);
  });

  it('is found in the error of a client without the interceptor', () => {
    const error = { code: status.RESOURCE_EXHAUSTED, metadata: metadata('0.5') };
    expect(classifyGrpcOutcome({ ok: false, error })).toEqual({ kind: 'busy', pressure: 0.5 });
  });
});
