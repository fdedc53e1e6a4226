import { once } from 'node:events';
import { Metadata, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  classifyGrpcOutcome,
  classifyGrpcStatus,
  createGrpcInterceptor,
  type GrpcInterceptorOptions,
  grpcRpcName,
  wasRefusedHere,
} from '../../src/adapters/grpc.js';
import {
  RateLimitExceededError,
  RuntimeClosedError,
  UnknownRpcError,
} from '../../src/shared/errors.js';
import { FakeGate } from './fake-gate.js';
import { ended, type LoopbackService, type MetaClient, startService } from './loopback-service.js';

let service: LoopbackService;
let gate: FakeGate;
const clients: MetaClient[] = [];
beforeEach(async () => {
  service = await startService();
  gate = new FakeGate();
});
afterEach(() => {
  vi.useRealTimers();
  for (const client of clients.splice(0)) client.close();
  service.stop();
});

/** Deadlines pass when the test says so; turns of the loop and sockets are real. */
function stopTheClock(): void {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
}

function connect(options: Partial<GrpcInterceptorOptions> = {}): MetaClient {
  const client = service.connect({ interceptors: [createGrpcInterceptor({ gate, ...options })] });
  clients.push(client);
  return client;
}

/** Until the gate has been asked, which may be after a turn. */
async function waiting(calls = 1): Promise<void> {
  while (gate.asked.length < calls) await new Promise(setImmediate);
}

const refusal = new RateLimitExceededError('would wait 700 ms', {
  retryAfterMs: 699.2,
  stage: 'table',
  rpc: 'commit_rowset',
});

describe('a unary call', () => {
  it('goes through the gate with its RPC type, table and weight', async () => {
    const client = connect({
      table: ({ request }) => (request as { tablet: string }).tablet,
      weight: ({ metadata }) => Number(metadata.get('weight')[0]),
      maxWaitMs: 50,
    });
    const metadata = new Metadata();
    metadata.set('weight', '3');
    const { error, reply } = await ended((done) =>
      client.CommitRowset({ tablet: 't1' }, metadata, done),
    );
    expect(error).toBeNull();
    expect(reply).toEqual({ tablet: 't1' });
    expect(gate.asked).toMatchObject([
      { rpc: 'commit_rowset', table: 't1', weight: 3, maxWaitMs: 50 },
    ]);
    expect(gate.verdicts).toEqual(['success']);
  });

  it.each([
    [status.RESOURCE_EXHAUSTED, 'busy'],
    [status.UNAVAILABLE, 'failure'],
    [status.NOT_FOUND, 'ignored'],
  ])('that the server ends with %s is %s', async (failWith, verdict) => {
    const { error } = await ended((done) => connect().CommitRowset({ failWith }, done));
    expect(error).toMatchObject({ code: failWith, details: `asked for ${status[failWith]}` });
    expect(gate.verdicts).toEqual([verdict]);
  });

  it('waits, and is sent once the gate lets it go', async () => {
    gate.decision = 'hold';
    const end = ended((done) => connect().CommitRowset({ n: 1 }, done));
    await waiting();
    expect(service.seen).toEqual([]);
    gate.release();
    expect((await end).reply).toEqual({ n: 1 });
  });

  it('that is refused is not sent, says so, and is no BUSY', async () => {
    gate.decision = { refuse: refusal };
    const { error, reply } = await ended((done) => connect().CommitRowset({}, done));
    expect(reply).toBeUndefined();
    expect(error).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: 'refused before it was sent: would wait 700 ms',
      cause: refusal,
    });
    expect(error?.metadata.get('spillway-refused')).toEqual(['table']);
    expect(error?.metadata.get('spillway-retry-after-ms')).toEqual(['700']);
    expect(wasRefusedHere(error!)).toBe(true);
    expect(classifyGrpcStatus(error!)).toBe('ignored');
    expect(service.seen).toEqual([]);
    expect(gate.verdicts).toEqual([]);
  });

  it('cancelled while it waits ends at once, takes nothing and is not sent', async () => {
    gate.decision = 'hold';
    let cancel = () => {};
    const end = ended((done) => {
      const call = connect().CommitRowset({}, done);
      cancel = () => call.cancel();
    });
    await waiting();
    cancel();
    const { error } = await end;
    expect(error?.code).toBe(status.CANCELLED);
    expect(gate.asked[0]?.signal?.aborted).toBe(true);
    gate.release();
    await new Promise(setImmediate);
    expect(service.seen).toEqual([]);
    expect(gate.verdicts).toEqual([]);
  });

  it('cancelled in the turn that lets it go is not sent either', async () => {
    gate.decision = 'hold';
    let cancel = () => {};
    const end = ended((done) => {
      const call = connect().CommitRowset({}, done);
      cancel = () => call.cancel();
    });
    await waiting();
    gate.release();
    cancel();
    expect((await end).error?.code).toBe(status.CANCELLED);
    await new Promise(setImmediate);
    expect(service.seen).toEqual([]);
    expect(gate.verdicts).toEqual(['ignored']);
  });

  it('cancelled after it was sent is cancelled there, and ignored', async () => {
    let cancel = () => {};
    const end = ended((done) => {
      const call = connect().Hang({}, done);
      cancel = () => call.cancel();
    });
    while (service.seen.length === 0) await new Promise(setImmediate);
    cancel();
    expect((await end).error?.code).toBe(status.CANCELLED);
    expect(gate.verdicts).toEqual(['ignored']);
  });

  it('ends at its deadline while it waits', async () => {
    stopTheClock();
    gate.decision = 'hold';
    const options = { deadline: Date.now() + 30 };
    const end = ended((done) => connect().CommitRowset({}, new Metadata(), options, done));
    await waiting();
    vi.advanceTimersByTime(29);
    expect(gate.asked[0]?.signal?.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    const { error } = await end;
    expect(error?.code).toBe(status.DEADLINE_EXCEEDED);
    expect(error?.details).toBe('Deadline exceeded while waiting to be sent');
    expect(gate.asked[0]?.signal?.aborted).toBe(true);
    expect(service.seen).toEqual([]);
  });

  it('past its deadline does not ask the gate', async () => {
    const options = { deadline: new Date(Date.now() - 1) };
    const { error } = await ended((done) =>
      connect().CommitRowset({}, new Metadata(), options, done),
    );
    expect(error?.code).toBe(status.DEADLINE_EXCEEDED);
    expect(gate.asked).toEqual([]);
  });

  it('asks for no longer a wait than its deadline leaves, and says which of the two it was', async () => {
    gate.decision = { refuse: refusal };
    const client = connect({ maxWaitMs: 60_000 });
    const soon = { deadline: Date.now() + 30_000 };
    const late = { deadline: Date.now() + 90_000 };
    const first = await ended((done) => client.CommitRowset({}, new Metadata(), soon, done));
    const second = await ended((done) => client.CommitRowset({}, new Metadata(), late, done));
    expect(gate.asked[0]?.maxWaitMs).toBeLessThanOrEqual(30_000);
    expect(gate.asked[1]?.maxWaitMs).toBe(60_000);
    expect(first.error?.code).toBe(status.DEADLINE_EXCEEDED);
    expect(second.error?.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(first.error?.metadata.get('spillway-retry-after-ms')).toEqual(['700']);
  });

  it('keeps its deadline once it is sent', async () => {
    stopTheClock();
    const options = { deadline: Date.now() + 50 };
    const end = ended((done) => connect().Hang({}, new Metadata(), options, done));
    while (service.seen.length === 0) await new Promise(setImmediate);
    vi.advanceTimersByTime(50);
    const { error } = await end;
    expect(error?.code).toBe(status.DEADLINE_EXCEEDED);
    expect(gate.verdicts).toEqual(['failure']);
  });

  it('ends with the server call that it belongs to', async () => {
    gate.decision = 'hold';
    const { EventEmitter } = await import('node:events');
    const parent = Object.assign(new EventEmitter(), {
      cancelled: false,
      getDeadline: () => Number.POSITIVE_INFINITY,
    }) as unknown as ServerUnaryCall<unknown, unknown>;
    const end = ended((done) => connect().CommitRowset({}, new Metadata(), { parent }, done));
    await waiting();
    parent.emit('cancelled');
    expect((await end).error?.code).toBe(status.CANCELLED);
    expect(parent.listenerCount('cancelled')).toBe(0);
  });

  it('ends with INTERNAL when a callback throws', async () => {
    const table = () => {
      throw new TypeError('no table here');
    };
    const { error } = await ended((done) => connect({ table }).CommitRowset({}, done));
    expect(error).toMatchObject({ code: status.INTERNAL, details: 'not sent: no table here' });
    expect(error?.cause).toBeInstanceOf(TypeError);
  });

  it('ends with FAILED_PRECONDITION when the runtime is closed', async () => {
    gate.decision = { refuse: new RuntimeClosedError() };
    const { error } = await ended((done) => connect().CommitRowset({}, done));
    expect(error?.code).toBe(status.FAILED_PRECONDITION);
    expect(error?.metadata.get('spillway-refused')).toEqual(['closed']);
  });

  it('ends when its channel was closed while it waited', async () => {
    gate.decision = 'hold';
    const client = connect();
    const end = ended((done) => client.CommitRowset({}, done));
    await waiting();
    client.close();
    gate.release();
    const { error } = await end;
    expect(error?.code).toBe(status.INTERNAL);
    expect(gate.verdicts).toEqual(['ignored']);
  });
});

describe('an RPC type that the runtime does not know', () => {
  const unknown = new UnknownRpcError('unknown', { rpc: 'commit_rowset' });

  it('passes by default', async () => {
    gate.decision = { refuse: unknown };
    expect((await ended((done) => connect().CommitRowset({ n: 1 }, done))).reply).toEqual({ n: 1 });
  });

  it('is refused where that is asked for', async () => {
    gate.decision = { refuse: unknown };
    const client = connect({ unknownRpc: 'refuse' });
    const { error } = await ended((done) => client.CommitRowset({}, done));
    expect(error).toMatchObject({ code: status.INTERNAL, cause: unknown });
    expect(service.seen).toEqual([]);
  });

  it('never reaches the gate when the callback says so', async () => {
    const client = connect({ rpc: () => undefined });
    expect((await ended((done) => client.CommitRowset({ n: 1 }, done))).reply).toEqual({ n: 1 });
    expect(gate.asked).toEqual([]);
  });
});

describe('streams', () => {
  it('of the client keep what was written while they waited, in order', async () => {
    gate.decision = 'hold';
    const end = ended((done) => {
      const call = connect().SendRows(done);
      for (const row of [1, 2, 3]) call.write(row);
      call.end();
    });
    await waiting();
    expect(service.seen).toEqual([]);
    gate.release();
    expect((await end).reply).toEqual([1, 2, 3]);
    expect(gate.asked).toMatchObject([{ rpc: 'send_rows' }]);
    expect(gate.verdicts).toEqual(['success']);
  });

  it('of the client end when they are refused', async () => {
    gate.decision = { refuse: refusal };
    const { error } = await ended((done) => {
      const call = connect().SendRows(done);
      for (const row of [1, 2, 3]) call.write(row);
      call.end();
    });
    expect(error?.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(service.seen).toEqual([]);
  });

  it('of the server deliver after a wait, with the request to find the table in', async () => {
    gate.decision = 'hold';
    const client = connect({ table: ({ request }) => (request as { rows: number[] }).rows.length });
    const call = client.ListRows({ rows: [1, 2, 3] });
    const rows: unknown[] = [];
    call.on('data', (row) => rows.push(row));
    await waiting();
    gate.release();
    await once(call, 'end');
    expect(rows).toEqual([1, 2, 3]);
    expect(gate.asked).toMatchObject([{ rpc: 'list_rows', table: 3 }]);
  });

  it('of the server emit an error when they are refused', async () => {
    gate.decision = { refuse: refusal };
    const call = connect().ListRows({ rows: [] });
    call.on('data', () => {});
    const [error] = (await once(call, 'error')) as [Error & { cause: unknown }];
    expect(error).toMatchObject({ code: status.RESOURCE_EXHAUSTED, cause: refusal });
  });

  it('in both directions work as without the gate', async () => {
    const call = connect().Talk();
    const rows: unknown[] = [];
    call.on('data', (row) => rows.push(row));
    call.write('a');
    call.write('b');
    call.end();
    await once(call, 'end');
    expect(rows).toEqual([{ echo: 'a' }, { echo: 'b' }]);
    expect(gate.verdicts).toEqual(['success']);
  });
});

describe('names and verdicts', () => {
  it.each([
    ['/doris.cloud.MetaService/CommitRowset', 'commit_rowset'],
    ['/x.Y/GetDeleteBitmapUpdateLock', 'get_delete_bitmap_update_lock'],
    ['/x.Y/GetHTTPInfo', 'get_http_info'],
    ['/x.Y/already_snake', 'already_snake'],
    ['/x.Y/listV2', 'list_v2'],
  ])('%s is %s', (path, name) => {
    expect(grpcRpcName(path)).toBe(name);
  });

  it('has a verdict for every status', () => {
    const codes = Object.values(status).filter((code) => typeof code === 'number');
    const names = (verdict: string) =>
      codes.filter((code) => classifyGrpcStatus({ code }) === verdict).map((code) => status[code]);
    expect(names('success')).toEqual(['OK']);
    expect(names('busy')).toEqual(['RESOURCE_EXHAUSTED']);
    expect(names('failure')).toEqual([
      'UNKNOWN',
      'DEADLINE_EXCEEDED',
      'INTERNAL',
      'UNAVAILABLE',
      'DATA_LOSS',
    ]);
    expect(names('ignored')).toHaveLength(codes.length - 7);
  });

  it('classifies what a client without the interceptor throws', () => {
    expect(classifyGrpcOutcome({ ok: true, value: 1 })).toBe('success');
    const error = Object.assign(new Error('e'), { code: status.RESOURCE_EXHAUSTED });
    expect(classifyGrpcOutcome({ ok: false, error })).toBe('busy');
    expect(classifyGrpcOutcome({ ok: false, error: new Error('connect') })).toBe('failure');
    expect(classifyGrpcOutcome({ ok: false, error: undefined })).toBe('failure');
  });

  it.each([
    [{ gate: undefined }, TypeError],
    [{ rpc: 'x' }, TypeError],
    [{ table: 5 }, TypeError],
    [{ maxWaitMs: Number.NaN }, RangeError],
    [{ maxWaitMs: -1 }, RangeError],
    [{ unknownRpc: 'drop' }, TypeError],
    [{ maxwaitMs: 1 }, /^maxwaitMs is no option, there are gate, rpc, .*, unknownRpc$/],
    [{ retry: { attempts: 3 } }, /^retry.attempts is no option, there are maxAttempts, /],
  ])('refuses %j at once', (options, expected) => {
    const all = { gate, ...options } as unknown as GrpcInterceptorOptions;
    expect(() => createGrpcInterceptor(all)).toThrow(expected);
  });
});
