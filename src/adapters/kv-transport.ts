import type { ChannelCredentials, Client, ClientUnaryCall, ServiceDefinition } from '@grpc/grpc-js';
import type { Exchange, PutAttempt, WriterTransport } from '../actors/kv/writer/writer-ports.js';

export type Grpc = typeof import('@grpc/grpc-js');

export interface KvTransportOptions {
  readonly grpc: Grpc;
  readonly service: ServiceDefinition;
  /** Where metadata is asked for, as long as no leader is known. At least one. */
  readonly targets: readonly string[];
  readonly credentials: ChannelCredentials;
  /** Names the writer to the servers. */
  readonly writer: string;
  readonly minRetryMs: number;
  readonly maxRetryMs: number;
}

/** Statuses after which the same request may well go through. Any other is a refusal. */
const PASSING: ReadonlySet<string> = new Set([
  'CANCELLED',
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'RESOURCE_EXHAUSTED',
  'ABORTED',
  'INTERNAL',
  'UNAVAILABLE',
]);

/** One client per address, all requests on it at the same time. */
export class KvTransport implements WriterTransport {
  readonly #options: KvTransportOptions;
  readonly #clients = new Map<string, Client>();
  readonly #calls = new Set<ClientUnaryCall>();
  #leaders: ReadonlySet<string> = new Set();
  #describes = 0;
  #isClosed = false;

  constructor(options: KvTransportOptions) {
    this.#options = options;
  }

  put(attempt: PutAttempt, done: (end: Exchange) => void): void {
    const { leader, table, bucket, records, completion, number, timeoutMs } = attempt;
    const request = {
      table,
      buckets: [{ bucket, records }],
      completion: completion === 'flush' ? 'COMPLETION_FLUSH' : 'COMPLETION_LOG',
      writer: this.#options.writer,
      attempt: number,
    };
    this.#call('PutKv', leader === '' ? this.#target(0) : leader, request, timeoutMs, done);
  }

  /** Another server each time, the given ones first, so that one that hangs does not stand for all. */
  describe(timeoutMs: number, done: (end: Exchange) => void): void {
    const target = this.#target(this.#describes);
    this.#describes += 1;
    this.#call('Describe', target, { tables: [] }, timeoutMs, done);
  }

  retain(leaders: ReadonlySet<string>): void {
    // Who does not say which server it is means none that could be asked by its name.
    this.#leaders = new Set([...leaders].filter((address) => address !== ''));
    for (const [address, client] of this.#clients) {
      if (leaders.has(address) || this.#options.targets.includes(address)) continue;
      client.close();
      this.#clients.delete(address);
    }
  }

  close(): void {
    this.#isClosed = true;
    // A client that is closed lets its calls end, and its connection stay open for them.
    for (const call of this.#calls) call.cancel();
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  #target(turn: number): string {
    const all = [...new Set([...this.#options.targets, ...this.#leaders])];
    return all[turn % all.length] as string;
  }

  #call(
    name: string,
    target: string,
    request: object,
    timeoutMs: number,
    done: (end: Exchange) => void,
  ): void {
    const { service, grpc } = this.#options;
    const method = service[name] as ServiceDefinition[string];
    try {
      const call = this.#client(target).makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        { deadline: Date.now() + timeoutMs },
        (error, response) => {
          this.#calls.delete(call);
          if (this.#isClosed) return;
          if (error === null) done({ kind: 'response', response });
          else if (PASSING.has(grpc.status[error.code] ?? '')) done({ kind: 'lost', error });
          else done({ kind: 'refused', error });
        },
      );
      this.#calls.add(call);
    } catch (thrown) {
      // An address that is none, say: metadata may bring a better one.
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      queueMicrotask(() => done({ kind: 'lost', error }));
    }
  }

  #client(address: string): Client {
    const known = this.#clients.get(address);
    if (known !== undefined) return known;
    const { grpc, credentials, minRetryMs, maxRetryMs } = this.#options;
    const client = new grpc.Client(address, credentials, {
      // The writer itself numbers and repeats; a server that is back is to be found again as soon as the writer tries.
      'grpc.enable_retries': 0,
      'grpc.initial_reconnect_backoff_ms': Math.max(100, minRetryMs),
      'grpc.max_reconnect_backoff_ms': Math.max(100, minRetryMs, Math.min(maxRetryMs, 1000)),
      'grpc.min_reconnect_backoff_ms': 100,
      // A connection that is dead without a word is found out before the delivery timeout is over.
      'grpc.keepalive_time_ms': 20_000,
      'grpc.keepalive_timeout_ms': 10_000,
      // Its own connection: closing the writer closes it.
      'grpc.use_local_subchannel_pool': 1,
    });
    this.#clients.set(address, client);
    return client;
  }
}
