import { once } from 'node:events';
import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createGrpcInterceptor,
  type GrpcAnswer,
  type GrpcInterceptorOptions,
  wasRefusedHere,
} from '../../dist/adapters/grpc.js';
import {
  AttemptTimeoutError,
  CircuitOpenError,
  createRuntime,
  type Runtime,
  type RuntimeOptions,
} from '../../dist/index.js';
import { until } from '../threads/until.js';
import { ended } from './loopback-service.js';
import { statusDetails } from './retry-info.js';
import {
  type ScriptedService,
  type StoreClient,
  startScriptedService,
} from './scripted-service.js';

let service: ScriptedService;
let runtime: Runtime;
let client: StoreClient;
beforeEach(async () => {
  service = await startScriptedService();
});
afterEach(async () => {
  client.close();
  service.stop();
  await runtime.close({ deadlineMs: 0 });
});

const RETRY = { maxAttempts: 3, baseDelayMs: 20, maxDelayMs: 40 };

async function connect(
  options: Partial<GrpcInterceptorOptions> = {},
  more: RuntimeOptions = {},
): Promise<void> {
  runtime = await createRuntime({
    host: { rpcs: { read: { qpsPerCore: 0 }, list: { qpsPerCore: 0 } } },
    breaker: { failureThreshold: 3, cooldownMs: 60_000 },
    ...more,
  });
  const interceptor = createGrpcInterceptor({ gate: runtime.gate, retry: RETRY, ...options });
  client = service.connect({ interceptors: [interceptor] });
}

const read = (request: unknown = { n: 1 }, options = {}) =>
  ended((done) => client.Read(request, new Metadata(), options, done));
const totals = (rpc = 'read') => runtime.snapshot().rpcs.find((one) => one.rpc === rpc);
const fail = (code: status, trailers = {}) => ({ kind: 'fail', code, trailers }) as const;

describe('a unary call', () => {
  it('is sent again, and the client hears of the last attempt only', async () => {
    await connect();
    service.script.push(fail(status.UNAVAILABLE), fail(status.RESOURCE_EXHAUSTED));
    const heard: [string, unknown][] = [];
    const end = ended((done) => {
      const call = client.Read({ n: 1 }, done);
      call.on('metadata', (metadata: Metadata) =>
        heard.push(['metadata', metadata.get('attempt')]),
      );
      call.on('status', ({ code }: StatusObject) => heard.push(['status', code]));
    });
    expect((await end).reply).toEqual({ n: 1 });
    await until('the status was heard', () => heard.length === 2);
    expect(heard).toEqual([
      ['metadata', ['3']],
      ['status', status.OK],
    ]);
    expect(service.seen.map(({ request }) => request)).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
    const previous = service.seen.map(({ metadata }) => metadata.get('grpc-previous-rpc-attempts'));
    expect(previous).toEqual([[], ['1'], ['2']]);
    expect(totals()).toMatchObject({ calls: 3, retries: 2, busy: 1 });
    expect(totals()?.outcomes).toMatchObject({ success: 1, failure: 1 });
  });

  it('ends with the last status when the attempts do', async () => {
    await connect();
    service.script.push(...Array.from({ length: 3 }, () => fail(status.INTERNAL)));
    const { error } = await read();
    expect(error).toMatchObject({ code: status.INTERNAL, details: 'INTERNAL' });
    expect(service.seen).toHaveLength(3);
  });

  it('that may not be done twice is not', async () => {
    await connect({ retry: ({ request }) => ((request as { n: number }).n > 1 ? RETRY : false) });
    service.script.push(fail(status.UNAVAILABLE));
    expect((await read({ n: 1 })).error?.code).toBe(status.UNAVAILABLE);
    service.script.push(fail(status.UNAVAILABLE));
    expect((await read({ n: 2 })).reply).toEqual({ n: 2 });
    expect(service.seen).toHaveLength(3);
  });

  it.each([
    ['pushback', { 'grpc-retry-pushback-ms': '120' }],
    ['RetryInfo', { 'grpc-status-details-bin': statusDetails({ nanos: 120_000_000 }) }],
  ])('waits as long as %s says', async (_, trailers) => {
    await connect();
    service.script.push(fail(status.UNAVAILABLE, trailers));
    expect((await read()).error).toBeNull();
    const [first, second] = service.seen;
    expect(second!.atMs - first!.atMs).toBeGreaterThanOrEqual(119);
    expect(totals()?.outcomes).toMatchObject({ refused: 1, failure: 0 });
  });

  it('is not sent again when the server says so, or for longer than allowed', async () => {
    await connect({ retry: { ...RETRY, maxRetryAfterMs: 1000 } });
    for (const pushback of ['-1', '1001']) {
      service.script.push(fail(status.UNAVAILABLE, { 'grpc-retry-pushback-ms': pushback }));
      expect((await read()).error?.code).toBe(status.UNAVAILABLE);
    }
    expect(service.seen).toHaveLength(2);
  });

  it('that is cancelled between two attempts ends at once', async () => {
    await connect({ retry: { maxAttempts: 2, baseDelayMs: 60_000, maxDelayMs: 60_000 } });
    service.script.push(fail(status.UNAVAILABLE));
    let cancel = (): void => undefined;
    const end = ended((done) => {
      const call = client.Read({}, done);
      cancel = () => call.cancel();
    });
    await until('the first attempt has failed', () => totals()?.retries === 1);
    cancel();
    expect((await end).error?.code).toBe(status.CANCELLED);
    await until('the gate has heard it', () => runtime.snapshot().conservation.held === 0);
    expect(service.seen).toHaveLength(1);
  });

  it('with a deadline does not back off beyond it', async () => {
    await connect({ retry: { maxAttempts: 9, baseDelayMs: 60_000, maxDelayMs: 60_000 } });
    service.script.push(fail(status.UNAVAILABLE));
    const start = performance.now();
    const { error } = await read({}, { deadline: Date.now() + 5000 });
    expect(error?.code).toBe(status.UNAVAILABLE);
    expect(performance.now() - start).toBeLessThan(4000);
  });

  it('ends at its deadline whatever the attempts do', async () => {
    await connect({ attemptTimeoutMs: 50, retry: { ...RETRY, maxAttempts: 100 } });
    service.script.push(...Array.from({ length: 100 }, () => ({ kind: 'hang' as const })));
    const { error } = await read({}, { deadline: Date.now() + 300 });
    expect(error?.code).toBe(status.DEADLINE_EXCEEDED);
    expect(service.seen.length).toBeGreaterThan(1);
    expect(service.seen.length).toBeLessThan(8);
  });
});

describe('an attempt that takes too long', () => {
  it('is cancelled at the server and sent again; its late end changes nothing', async () => {
    await connect({ attemptTimeoutMs: 80 });
    service.script.push({ kind: 'hang' });
    expect((await read()).reply).toEqual({ n: 1 });
    await until('the first attempt was cancelled', () => service.seen[0]?.cancelled === true);
    await until('its end was counted', () => totals()?.late === 1);
    expect(totals()).toMatchObject({ calls: 2, timeouts: 1, retries: 1 });
  });

  it('and was the last ends the call with DEADLINE_EXCEEDED, as the server never did', async () => {
    await connect({ attemptTimeoutMs: 80, retry: false });
    service.script.push({ kind: 'hang' });
    const { error } = await read();
    expect(error?.code).toBe(status.DEADLINE_EXCEEDED);
    expect(error?.cause).toBeInstanceOf(AttemptTimeoutError);
    expect(wasRefusedHere(error!)).toBe(false);
    await until('it was cancelled', () => service.seen[0]?.cancelled === true);
  });
});

describe('the circuit of the address', () => {
  it('opens after three failures and refuses the fourth call without sending it', async () => {
    await connect({ retry: false, address: () => service.address });
    service.script.push(...Array.from({ length: 3 }, () => fail(status.UNAVAILABLE)));
    for (let i = 0; i < 3; i += 1) await read();
    const { error } = await read();
    expect(error).toMatchObject({ code: status.UNAVAILABLE });
    expect(error?.cause).toBeInstanceOf(CircuitOpenError);
    expect(error?.metadata.get('spillway-refused')).toEqual(['circuit']);
    expect(Number(error?.metadata.get('spillway-retry-after-ms')[0])).toBeGreaterThan(50_000);
    expect(wasRefusedHere(error!)).toBe(true);
    expect(service.seen).toHaveLength(3);
    expect(runtime.gate.breaker(`dns:///${service.address}`).state().state).toBe('open');
  });

  it('that opens between two attempts ends the call with the refusal, the last status as its cause', async () => {
    await connect({ address: service.address, retry: { ...RETRY, maxAttempts: 9 } });
    service.script.push(...Array.from({ length: 9 }, () => fail(status.UNAVAILABLE)));
    const { error } = await read();
    expect(error?.details).toMatch(/^refused before attempt 4 was sent: the circuit of /);
    const refusal = error?.cause as Error;
    expect(refusal).toBeInstanceOf(CircuitOpenError);
    expect(refusal.cause).toMatchObject({ code: status.UNAVAILABLE });
    expect(service.seen).toHaveLength(3);
  });

  it('is not opened by a server that is busy, or says when to come back', async () => {
    await connect({ address: service.address, retry: false });
    service.script.push(
      ...Array.from({ length: 4 }, () => fail(status.RESOURCE_EXHAUSTED)),
      ...Array.from({ length: 4 }, () =>
        fail(status.UNAVAILABLE, { 'grpc-retry-pushback-ms': '5' }),
      ),
      ...Array.from({ length: 4 }, () => fail(status.NOT_FOUND)),
    );
    for (let i = 0; i < 12; i += 1) await read();
    expect(service.seen).toHaveLength(12);
    expect(runtime.gate.breaker(service.address).state().state).toBe('closed');
  });
});

describe('the application’s own status', () => {
  const isBusy = ({ reply }: GrpcAnswer) =>
    (reply as { code?: string } | null)?.code === 'MS_TOO_BUSY' ? 'busy' : undefined;

  it('counts in a reply whose transport status is OK', async () => {
    await connect({ status: isBusy });
    service.script.push({ kind: 'reply', value: { code: 'MS_TOO_BUSY' } });
    expect((await read()).reply).toEqual({ n: 1 });
    expect(totals()).toMatchObject({ calls: 2, busy: 1 });
  });

  it('that cannot be told ends the call with INTERNAL, and is counted', async () => {
    await connect({
      status: () => {
        throw new TypeError('no status here');
      },
    });
    const { error } = await read();
    expect(error).toMatchObject({ code: status.INTERNAL, details: 'no status here' });
    expect(totals()).toMatchObject({ calls: 1, classifierFaults: 1 });
  });
});

describe('a stream', () => {
  it('is admitted and settled, never sent again and never cut off', async () => {
    await connect({ address: service.address, attemptTimeoutMs: 1 });
    service.script.push(fail(status.UNAVAILABLE));
    const broken = client.List({});
    broken.on('data', () => undefined);
    const [error] = (await once(broken, 'error')) as [StatusObject];
    expect(error.code).toBe(status.UNAVAILABLE);
    const rows: unknown[] = [];
    const whole = client.List({});
    whole.on('data', (row: unknown) => rows.push(row));
    await once(whole, 'end');
    expect(rows).toEqual(['row']);
    await until('both were settled', () => totals('list')?.outcomes.success === 1);
    expect(totals('list')).toMatchObject({ calls: 2, retries: 0, timeouts: 0 });
    expect(totals('list')?.outcomes).toMatchObject({ failure: 1, success: 1 });
  });

  it('that is the probe closes the circuit with its first message', async () => {
    await connect({ address: service.address });
    await runtime.updateConfig({ breaker: { failureThreshold: 1, cooldownMs: 1 } });
    const state = () => runtime.gate.breaker(service.address).state();
    service.script.push(fail(status.UNAVAILABLE), { kind: 'hang' });
    const broken = client.List({});
    broken.on('data', () => undefined);
    await once(broken, 'error');
    expect(state().state).toBe('open');
    await until('it may be probed', () => state().retryAfterMs === 0);
    const long = client.List({});
    const cancelled = once(long, 'error');
    await once(long, 'data');
    expect(state().state).toBe('closed');
    long.cancel();
    expect(await cancelled).toMatchObject([{ code: status.CANCELLED }]);
    await until('it was settled', () => totals('list')?.outcomes.ignored === 1);
    expect(state()).toMatchObject({ state: 'closed', consecutiveFailures: 0 });
  });
});
