import { randomUUID } from 'node:crypto';
import type { ChannelCredentials, ServiceDefinition } from '@grpc/grpc-js';
import { KvWriterCore, type PutOptions } from '../actors/kv/writer/kv-writer-core.js';
import type { PutResult } from '../actors/kv/writer/pending-record.js';
import { resolveWriterConfig, type WriterOptions } from '../actors/kv/writer/writer-config.js';
import type { WriterTimer } from '../actors/kv/writer/writer-ports.js';
import type { KvWriterStats } from '../actors/kv/writer/writer-stats.js';
import { ConfigError } from '../shared/errors.js';
import { KvRecordError } from '../shared/kv-writer-errors.js';
import { describeValue } from '../shared/quota.js';
import { checkKnown } from '../workers/known-options.js';
import { createSignalHub } from '../workers/signal-hub.js';
import { type Grpc, KvTransport } from './kv-transport.js';

export interface KvWriterOptions extends WriterOptions {
  /** `host:port` of a server, or of several: any of them names the leaders of all buckets. */
  readonly target: string | readonly string[];
  /** Default: plain text. */
  readonly credentials?: ChannelCredentials;
}

/** Bytes, or a string for its UTF-8. They are not copied: leave them alone until the promise is settled. */
export type KvBytes = Uint8Array | string;

export interface KvWriter {
  /**
   * Puts a value. Resolves when the server has acknowledged it; puts of one bucket are taken in the order of these calls.
   * Rejects with `KvRecordError`, `KvBufferFullError`, `KvUnknownBucketError`, `KvWriteError`, `KvDeliveryTimeoutError`,
   * `KvWriterClosedError`, the signal's reason, or a built-in error for arguments that can never be right. Whoever drops the
   * promise gets an unhandled rejection for it, as of any promise.
   */
  put(table: string, key: KvBytes, value: KvBytes, options?: PutOptions): Promise<PutResult>;
  /** As `put`. */
  delete(table: string, key: KvBytes, options?: PutOptions): Promise<PutResult>;
  /** Resolves when no put waits for room: what is put now need not, either. Never rejects. */
  ready(): Promise<void>;
  /** Sends what lingers and resolves when everything that was given before is settled, however. Never rejects. */
  flush(): Promise<void>;
  /**
   * Takes nothing more, resolves when all is settled, and rejects with `KvWriterClosedError` what is left after
   * `deadlineMs` (default 10,000). Leaves no connection and no timer. Idempotent; never rejects.
   * @throws TypeError, RangeError at once for a bad option, and then nothing is closed.
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
  stats(): KvWriterStats;
}

interface CloseOptions {
  readonly deadlineMs?: number;
}

const CLOSE_OPTIONS: ReadonlySet<string> = new Set<keyof CloseOptions>(['deadlineMs']);
const LONGEST_MS = 86_400_000;

/**
 * Makes a writer; it connects by itself and does not wait for it: a server that is away now only delays what is put.
 *
 * @throws ConfigError for a bad option; Error when a peer is not installed.
 */
export async function createKvWriter(options: KvWriterOptions): Promise<KvWriter> {
  if (typeof options !== 'object' || options === null) {
    const rule = 'an object with a target';
    throw new ConfigError(`options must be ${rule}, got ${describeValue(options)}`, {
      field: 'options',
      rule,
      value: options,
    });
  }
  const { target, credentials, ...rest } = options;
  const config = resolveWriterConfig(rest);
  const targets = checkedTargets(target);
  const { grpc, service } = await loadPeers();
  requireCredentials(credentials, grpc);
  const { minRetryMs, maxRetryMs } = config;
  const transport = new KvTransport({
    grpc,
    service,
    targets,
    credentials: credentials ?? grpc.credentials.createInsecure(),
    writer: randomUUID(),
    minRetryMs,
    maxRetryMs,
  });
  const hub = createSignalHub();
  const core = new KvWriterCore(config, {
    nowMs: () => performance.now(),
    timer: createWriterTimer(),
    soon: queueMicrotask,
    turn: (run) => void setImmediate(run),
    transport,
    random: Math.random,
    watch: (signal, onAbort) => hub.watch(signal, onAbort),
  });
  core.start();
  return {
    put(table, key, value, putOptions) {
      const refusal = refuseText('key', key) ?? refuseText('value', value);
      if (refusal !== undefined) return Promise.reject(refusal);
      return core.put(table, bytesOf(key), bytesOf(value), putOptions);
    },
    delete(table, key, putOptions) {
      const refusal = refuseText('key', key);
      if (refusal !== undefined) return Promise.reject(refusal);
      return core.put(table, bytesOf(key), null, putOptions);
    },
    ready: () => core.ready(),
    flush: () => core.flush(),
    close: (closeOptions = {}) => core.close(checkedDeadline(closeOptions)),
    stats: () => core.stats(),
  };
}

/** A surrogate without its other half: UTF-8 has no bytes for it, so two such texts would be one key. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** What is no string is checked with the other arguments. */
function bytesOf(given: KvBytes): Uint8Array {
  return typeof given === 'string' ? Buffer.from(given) : (given ?? undefined);
}

/** Why a text cannot be written; undefined: it can, or is none. */
function refuseText(what: string, given: KvBytes): KvRecordError | undefined {
  if (typeof given !== 'string' || !LONE_SURROGATE.test(given)) return undefined;
  const reason = `${what} must be text that UTF-8 can hold, got a lone surrogate; give bytes instead`;
  return new KvRecordError(reason, { storageCode: 3 });
}

/** Without a port gRPC would take 443, and wait there for as long as records may. */
function isAddress(text: string): boolean {
  return (/:\d{1,5}$/.test(text) && !/^https?:/.test(text)) || text.startsWith('unix:');
}

function checkedTargets(target: unknown): readonly string[] {
  const targets: readonly unknown[] = Array.isArray(target) ? [...target] : [target];
  const isFit = (one: unknown): one is string => typeof one === 'string' && isAddress(one);
  if (targets.length > 0 && targets.every(isFit)) return targets;
  const rule = "'host:port' or a list of them";
  throw new ConfigError(`target must be ${rule}, got ${describeValue(target)}`, {
    field: 'target',
    rule,
    value: target,
  });
}

/** Those of another copy of the peer, too, connect to nothing: each put would only time out. */
function requireCredentials(credentials: unknown, { ChannelCredentials }: Grpc): void {
  if (credentials === undefined || credentials instanceof ChannelCredentials) return;
  const rule = 'ChannelCredentials of the @grpc/grpc-js that is loaded here';
  throw new ConfigError(`credentials must be ${rule}, got ${describeValue(credentials)}`, {
    field: 'credentials',
    rule,
    value: credentials,
  });
}

function checkedDeadline(options: CloseOptions): number {
  checkKnown(options, CLOSE_OPTIONS);
  const { deadlineMs = 10_000 } = options;
  if (Number.isFinite(deadlineMs) && deadlineMs >= 0) return Math.min(deadlineMs, LONGEST_MS);
  throw new RangeError(`deadlineMs must be a finite number >= 0, got ${String(deadlineMs)}`);
}

async function loadPeers(): Promise<{
  readonly grpc: Grpc;
  readonly service: ServiceDefinition;
}> {
  try {
    const [grpc, { loadKvService }] = await Promise.all([
      import('@grpc/grpc-js'),
      import('./kv-protocol.js'),
    ]);
    return { grpc, service: loadKvService() };
  } catch (error) {
    const peers = '@grpc/grpc-js and @grpc/proto-loader';
    throw new Error(`${peers} cannot be loaded: install them to use this writer`, { cause: error });
  }
}

function createWriterTimer(): WriterTimer {
  let timer: NodeJS.Timeout | undefined;
  return {
    arm(delayMs, wake, isIdle) {
      clearTimeout(timer);
      timer = setTimeout(wake, Math.min(Math.max(Math.ceil(delayMs), 1), LONGEST_MS));
      if (isIdle) timer.unref();
    },
    disarm() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
