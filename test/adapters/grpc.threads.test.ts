import { availableParallelism } from 'node:os';
import { Metadata, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGrpcInterceptor, type GrpcInterceptorOptions } from '../../dist/adapters/grpc.js';
import { createRuntime, RateLimitExceededError, type Runtime } from '../../dist/index.js';
import { until } from '../threads/until.js';
import { ended, type LoopbackService, type MetaClient, startService } from './loopback-service.js';

let service: LoopbackService;
let runtime: Runtime;
let client: MetaClient;
beforeEach(async () => {
  service = await startService();
});
afterEach(async () => {
  client.close();
  service.stop();
  await runtime.close({ deadlineMs: 0 });
});

/** A permit each `everyMs`, after the first. */
async function connect(everyMs: number, options: Partial<GrpcInterceptorOptions> = {}) {
  const qpsPerCore = 1000 / everyMs / availableParallelism();
  const rpcs = { commit_rowset: { qpsPerCore, burst: 1 }, hang: { qpsPerCore: 0 } };
  runtime = await createRuntime({
    host: { rpcs },
    tables: { enabled: true, rpcs: ['commit_rowset'] },
  });
  const interceptor = createGrpcInterceptor({ gate: runtime.gate, ...options });
  client = service.connect({ interceptors: [interceptor] });
}

const commit = (request: object, options = {}) =>
  ended((done) => client.CommitRowset(request, new Metadata(), options, done));
const totals = () => runtime.snapshot().rpcs.find(({ rpc }) => rpc === 'commit_rowset');

describe('the interceptor on a runtime and a server', () => {
  it('spaces calls at the limit of the process', async () => {
    await connect(20);
    const start = performance.now();
    const ends = await Promise.all([1, 2, 3, 4].map((n) => commit({ n })));
    expect(ends.map(({ reply }) => reply)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(59);
    expect(totals()).toMatchObject({ calls: 4, spent: 4, busy: 0, refused: 0 });
  });

  it('counts RESOURCE_EXHAUSTED of the server as BUSY, and its own refusal not', async () => {
    await connect(60_000, { maxWaitMs: 0, table: () => 't' });
    const first = await commit({ failWith: status.RESOURCE_EXHAUSTED });
    expect(first.error?.code).toBe(status.RESOURCE_EXHAUSTED);
    const second = await commit({});
    expect(second.error).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(second.error?.cause).toBeInstanceOf(RateLimitExceededError);
    expect(second.error?.metadata.get('spillway-refused')).toEqual(['host']);
    expect(totals()).toMatchObject({ calls: 1, busy: 1, refused: 1 });
    expect(service.seen).toEqual(['CommitRowset']);
  });

  it('takes no permit for a call that is cancelled, or whose deadline passes, while it waits', async () => {
    await connect(4000);
    expect((await commit({})).error).toBeNull();
    const late = commit({}, { deadline: Date.now() + 40 });
    let cancel = () => {};
    const cancelled = ended((done) => {
      const call = client.CommitRowset({}, done);
      cancel = () => call.cancel();
    });
    expect((await late).error?.code).toBe(status.DEADLINE_EXCEEDED);
    cancel();
    expect((await cancelled).error?.code).toBe(status.CANCELLED);
    await until('everything is settled', () => runtime.snapshot().conservation.held === 0);
    expect(totals()).toMatchObject({ calls: 1, spent: 1 });
    expect(runtime.snapshot().conservation.ok).toBe(true);
    expect(service.seen).toEqual(['CommitRowset']);
  });

  it('ends waiting calls when the runtime closes', async () => {
    await connect(4000);
    expect((await commit({})).error).toBeNull();
    const waiting = commit({});
    await until('it waits', () => runtime.gate.limiter('commit_rowset').waiting === 1);
    await runtime.close({ deadlineMs: 0 });
    expect((await waiting).error?.code).toBe(status.FAILED_PRECONDITION);
    expect((await commit({})).error?.code).toBe(status.FAILED_PRECONDITION);
  });

  it('passes methods that the configuration does not know', async () => {
    await connect(60_000);
    const reply = await ended((done) => {
      const call = client.SendRows(done);
      call.write(1);
      call.end();
    });
    expect(reply.reply).toEqual([1]);
  });
});
