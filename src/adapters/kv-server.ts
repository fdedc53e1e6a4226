import type { Server, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import type { PutReply } from '../actors/kv/tablet-message.js';
import { checkMs } from '../workers/wait-options.js';
import {
  type BucketResult,
  type DescribeRequest,
  type DescribeResponse,
  type GetKvRequest,
  loadKvService,
  type PutKvRequest,
  type PutKvResponse,
  type ScanKvRequest,
} from './kv-protocol.js';
import { type KvServerOptions, resolveKvServerOptions } from './kv-server-options.js';
import { answerGet, answerScan } from './kv-server-reads.js';
import { loadPeer } from './load-peer.js';

export type { KvServerOptions } from './kv-server-options.js';

export interface KvServer {
  readonly port: number;
  /**
   * Takes no new calls, lets those under way end until the deadline (default 5000 ms, at most a day), then cuts them off.
   * Idempotent. @throws TypeError, RangeError for a bad deadline.
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
}

/** Of what is left of a call's deadline, so that the answer arrives before it. */
const DEADLINE_SHARE = 0.9;
/** A store waits for no longer. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Serves a store as `spillway.kv.v1`. The store stays the caller's: it is not closed with the server.
 * @throws (rejects) ConfigError for a bad option; Error when it cannot listen, or a peer is not installed.
 */
export async function startKvServer(options: KvServerOptions): Promise<KvServer> {
  const grpc = loadPeer<typeof import('@grpc/grpc-js')>('@grpc/grpc-js', '', 'this server');
  const { INTERNAL } = grpc.status;
  const { store, host, port, credentials, advertise, maxMessageBytes } = resolveKvServerOptions(
    options,
    grpc,
  );
  const server = new grpc.Server({ 'grpc.max_receive_message_length': maxMessageBytes });
  let leader = advertise ?? '';
  server.addService(loadKvService(), {
    PutKv: unary(INTERNAL, (request: PutKvRequest, timeoutMs) => put(store, request, timeoutMs)),
    GetKv: unary(INTERNAL, (request: GetKvRequest, timeoutMs) =>
      answerGet(store, request, timeoutMs, maxMessageBytes),
    ),
    ScanKv: unary(INTERNAL, (request: ScanKvRequest, timeoutMs) =>
      answerScan(store, request, timeoutMs),
    ),
    Describe: unary(INTERNAL, async (request: DescribeRequest) => describe(store, request, leader)),
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, credentials, (error, actual) => {
      if (error === null) resolve(actual);
      else reject(error);
    });
  });
  leader = advertise ?? `${host}:${bound}`;
  let closing: Promise<void> | undefined;
  return {
    port: bound,
    close({ deadlineMs } = {}) {
      const patienceMs = checkMs(deadlineMs, 'deadlineMs') ?? 5000;
      closing ??= closeServer(server, patienceMs);
      return closing;
    },
  };
}

function closeServer(server: Server, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.forceShutdown(), deadlineMs);
    server.tryShutdown(() => {
      clearTimeout(deadline);
      resolve();
    });
  });
}

type Unary<Request, Response> = (
  call: ServerUnaryCall<Request, Response>,
  done: sendUnaryData<Response>,
) => void;

/** `internal`: the status of what must not happen. */
function unary<Request, Response>(
  internal: number,
  answer: (request: Request, timeoutMs: number | undefined) => Promise<Response>,
): Unary<Request, Response> {
  return (call, done) => {
    answer(call.request, timeoutOf(call.getDeadline())).then(
      (response) => done(null, response),
      (error: unknown) => {
        const details = error instanceof Error ? error.message : String(error);
        done({ code: internal, details });
      },
    );
  };
}

/** A client that has walked away is not waited for: what it has put is logged all the same. */
function timeoutOf(deadline: Date | number): number | undefined {
  const atMs = deadline instanceof Date ? deadline.getTime() : deadline;
  if (!Number.isFinite(atMs)) return undefined;
  return Math.min(Math.max(0, (atMs - Date.now()) * DEADLINE_SHARE), LONGEST_MS);
}

type Store = KvServerOptions['store'];

async function put(
  store: Store,
  { table, buckets, completion, writer, attempt }: PutKvRequest,
  timeoutMs: number | undefined,
): Promise<PutKvResponse> {
  const options = {
    completion: completion === 'COMPLETION_FLUSH' ? ('flush' as const) : ('log' as const),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(writer ? { writer, attempt: attempt ?? 0 } : {}),
  };
  const results = buckets.map(async ({ bucket, records }) => {
    const given = records.map(({ key, value }) => ({ key, value: value ?? null }));
    return bucketResult(bucket, await store.put(table, bucket, given, options));
  });
  return { buckets: await Promise.all(results) };
}

function bucketResult(bucket: number, reply: PutReply): BucketResult {
  const { code, message, logEndOffset, pressure } = reply;
  return {
    bucket,
    errorCode: code,
    errorMessage: message,
    ...(logEndOffset === undefined ? {} : { logEndOffset }),
    ...(pressure > 0 ? { pressure } : {}),
  };
}

function describe(store: Store, { tables }: DescribeRequest, leader: string): DescribeResponse {
  const wanted = new Set(tables);
  const found = Object.entries(store.tables()).filter(
    ([name]) => wanted.size === 0 || wanted.has(name),
  );
  return {
    tables: found.map(([name, buckets]) => ({
      name,
      buckets: Array.from({ length: buckets }, (_, bucket) => ({ bucket, leader })),
    })),
  };
}
