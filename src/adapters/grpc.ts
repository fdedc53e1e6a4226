import {
  InterceptingCall,
  type Interceptor,
  type Metadata,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import { classifyByError } from '../shared/classify-by-error.js';
import { UnknownRpcError } from '../shared/errors.js';
import { isVerdict, type Verdict, withPressure } from '../shared/verdict.js';
import type { Attempt } from '../workers/attempt-run.js';
import { type CallOptions, type CallRetry, RETRY_OPTIONS } from '../workers/call-options.js';
import { checkKnown } from '../workers/known-options.js';
import type { Outcome } from '../workers/outcome.js';
import { LONGEST_WAIT_MS } from '../workers/wait-options.js';
import { GatedCall, type Pass, type Passage } from './grpc-gated-call.js';
import type { Answer } from './grpc-inner-call.js';
import { grpcPressure } from './grpc-pressure.js';
import { REFUSED_KEY } from './grpc-refusal.js';
import { grpcRetryAfterMs } from './grpc-retry-hint.js';

/** What the callbacks of the interceptor get to see of a call. */
export interface GrpcCall {
  /** Full path, `/doris.cloud.MetaService/CommitRowset`. */
  readonly path: string;
  /** The request, where the method takes a single one; undefined for client streams. */
  readonly request: unknown;
  readonly metadata: Metadata;
}

/** What a call, or an attempt of a unary call, ended with. */
export interface GrpcAnswer {
  readonly call: GrpcCall;
  /** Of the transport. */
  readonly status: StatusObject;
  /** The response, where there is a single one; of a stream its last message. */
  readonly reply: unknown;
}

/** What the interceptor needs of a gate. */
export interface GrpcGate {
  call<T>(options: CallOptions<T>, attempt: Attempt<T>): Promise<T>;
}

export interface GrpcInterceptorOptions {
  /** What lets calls through: the gate of this thread. */
  readonly gate: GrpcGate;
  /**
   * RPC type of a method's path; undefined: not for the gate. Default: {@link grpcRpcName}, the method's own name in
   * snake case.
   */
  readonly rpc?: (path: string) => string | undefined;
  /** Key that table-level backpressure counts the call for. Default: none. */
  readonly table?: (call: GrpcCall) => bigint | number | string | undefined;
  /** Peer that the calls go to, as its circuit breaker knows it: the target of the client, say. Default: none. */
  readonly address?: string | ((call: GrpcCall) => string | undefined);
  /**
   * Part of the server whose pressure the calls heed, and which the pressure of an answer (trailer or initial metadata
   * `spillway-pressure`) is of; undefined: none. Default: what `address` says.
   */
  readonly bucket?: string | ((call: GrpcCall) => string | undefined);
  /** Permits that each attempt takes. Default: 1. */
  readonly weight?: (call: GrpcCall) => number;
  /** Longest wait, ms; a call's own deadline bounds it too. Default: what the configuration says. */
  readonly maxWaitMs?: number;
  /**
   * Which attempts of a unary call may follow a bad one; `false`: none. Only you know which methods may be done twice.
   * Default: what the configuration says. Streams are never sent again.
   */
  readonly retry?: CallRetry | false | ((call: GrpcCall) => CallRetry | false | undefined);
  /** Longest that one attempt of a unary call may take, ms; 0: no bound. Default: what the configuration says. */
  readonly attemptTimeoutMs?: number;
  /**
   * What an answer means, where the application's own status says more than the transport's: a reply with status OK that
   * carries MS_TOO_BUSY is `busy`. Undefined: as {@link classifyGrpcStatus} says.
   */
  readonly status?: (answer: GrpcAnswer) => Verdict | undefined;
  /**
   * What to do with an RPC type that the runtime does not know: `pass` sends it ungated, `refuse` ends it with INTERNAL.
   * Default: `pass`.
   */
  readonly unknownRpc?: 'pass' | 'refuse';
}

/** `/doris.cloud.MetaService/CommitRowset` is `commit_rowset`. */
export function grpcRpcName(path: string): string {
  return path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}

/**
 * What a status says about the server. RESOURCE_EXHAUSTED is BUSY; no answer in time, or an internal error, is a failure;
 * any other answer, and what the caller cancelled or this package refused, says nothing about it. With a hint when to come
 * back (pushback, RetryInfo) it is BUSY or a failure with that hint; UNAVAILABLE, and what would say nothing, is a refusal.
 */
export function classifyGrpcStatus(end: {
  readonly code: number;
  readonly metadata?: Metadata;
}): Verdict {
  if (end.code === status.OK) return 'success';
  if (end.code === status.CANCELLED || wasRefusedHere(end)) return 'ignored';
  const retryAfterMs = end.metadata && grpcRetryAfterMs(end.metadata);
  const kind = kindOf(end.code);
  if (retryAfterMs === undefined) return kind;
  const mayComeBack = Number.isFinite(retryAfterMs);
  if (kind === 'busy') return { kind, retryAfterMs };
  if (kind === 'failure' && !(mayComeBack && end.code === status.UNAVAILABLE))
    return { kind, retryAfterMs };
  return mayComeBack ? { kind: 'refused', retryAfterMs } : kind;
}

function kindOf(code: number): 'busy' | 'failure' | 'ignored' {
  switch (code) {
    case status.RESOURCE_EXHAUSTED:
      return 'busy';
    case status.UNAVAILABLE:
    case status.DEADLINE_EXCEEDED:
    case status.INTERNAL:
    case status.UNKNOWN:
    case status.DATA_LOSS:
      return 'failure';
    default:
      return 'ignored';
  }
}

/** For `gate.call` around a promise of a client without the interceptor: errors are taken for `ServiceError`s. */
export function classifyGrpcOutcome(outcome: Outcome<unknown>): Verdict {
  if (outcome.ok) return 'success';
  const error = outcome.error as { code?: unknown; metadata?: Metadata } | null | undefined;
  if (typeof error?.code !== 'number') return classifyByError(outcome);
  const end = error as { code: number; metadata?: Metadata };
  return withPressure(classifyGrpcStatus(end), grpcPressure(end.metadata, undefined));
}

/** Whether a status, or a `ServiceError`, is of a call that the interceptor ended before it was sent. */
export function wasRefusedHere(end: { readonly metadata?: Metadata }): boolean {
  return end.metadata !== undefined && end.metadata.get(REFUSED_KEY).length > 0;
}

/**
 * A client interceptor that takes every call through a gate before it is sent, and unary calls again as far as `retry`
 * allows it. A refused call ends with RESOURCE_EXHAUSTED, or UNAVAILABLE where its circuit is open, with the refusal as
 * `cause` of its `ServiceError` and in its metadata (`spillway-refused`, `spillway-retry-after-ms`), and is never counted as
 * BUSY. A call that is cancelled, or whose deadline passes, while it waits ends so at once and takes nothing.
 *
 * @throws TypeError, RangeError for bad options.
 */
export function createGrpcInterceptor(options: GrpcInterceptorOptions): Interceptor {
  const { gate, maxWaitMs, unknownRpc = 'pass', rpc = grpcRpcName } = options;
  checkOptions(options);
  return (callOptions, nextCall) => {
    const { path } = callOptions.method_definition;
    const pass: Pass = async (passage, attempt) => {
      const name = rpc(path);
      if (name === undefined) return { answer: undefined };
      // A call without limits is only what `undefined` asks for.
      if (typeof name !== 'string')
        throw new TypeError(`rpc must return a string or undefined, got ${typeof name}`);
      const call: GrpcCall = { path, request: passage.request, metadata: passage.metadata };
      try {
        return { answer: await gate.call(admission(options, name, call, passage), attempt) };
      } catch (error) {
        if (unknownRpc === 'pass' && error instanceof UnknownRpcError) return { answer: undefined };
        throw error;
      }
    };
    return new InterceptingCall(new GatedCall(callOptions, nextCall, pass, maxWaitMs));
  };
}

const OPTIONS: ReadonlySet<string> = new Set<keyof GrpcInterceptorOptions>([
  'gate',
  'rpc',
  'table',
  'address',
  'bucket',
  'weight',
  'maxWaitMs',
  'retry',
  'attemptTimeoutMs',
  'status',
  'unknownRpc',
]);

/** A stream is only admitted, and its end recorded: how long it takes is its own business. */
const NO_BOUNDS = { retry: false, attemptTimeoutMs: 0, deadlineMs: 0 } as const;

function admission(
  options: GrpcInterceptorOptions,
  rpc: string,
  call: GrpcCall,
  { signal, maxWaitMs, leftMs, isUnary }: Passage,
): CallOptions<Answer> {
  const { table, address, bucket, weight, retry, attemptTimeoutMs, status: statusOf } = options;
  const key = table?.(call);
  const peer = typeof address === 'function' ? address(call) : address;
  const part = bucket === undefined ? peer : typeof bucket === 'function' ? bucket(call) : bucket;
  const retries = typeof retry === 'function' ? retry(call) : retry;
  const bounds = {
    ...(retries !== undefined && { retry: retries }),
    ...(attemptTimeoutMs !== undefined && { attemptTimeoutMs }),
    ...(leftMs !== undefined && { deadlineMs: leftMs }),
  };
  return {
    rpc,
    signal,
    classify: (outcome) => classifyEnd(outcome, call, statusOf),
    ...(key !== undefined && { table: key }),
    ...(peer !== undefined && { address: peer }),
    ...(part !== undefined && { bucket: part }),
    ...(weight !== undefined && { weight: weight(call) }),
    ...(maxWaitMs !== undefined && { maxWaitMs }),
    ...(isUnary ? bounds : NO_BOUNDS),
  };
}

/** Attempts always fulfil, with what came back. */
function classifyEnd(
  outcome: Outcome<Answer>,
  call: GrpcCall,
  statusOf: GrpcInterceptorOptions['status'],
): Verdict {
  if (!outcome.ok) return 'ignored';
  const { reply, headers, ...end } = outcome.value;
  const isTheServers = end.code !== status.CANCELLED && !wasRefusedHere(end);
  const verdict = isTheServers ? statusOf?.({ call, status: end, reply }) : undefined;
  const pressure = grpcPressure(end.metadata, headers);
  if (verdict === undefined) return withPressure(classifyGrpcStatus(end), pressure);
  if (isVerdict(verdict)) return withPressure(verdict, pressure);
  throw new TypeError(`status must return a verdict or undefined, got ${String(verdict)}`);
}

/** Throws here, once, and not in every call. */
function checkOptions(options: GrpcInterceptorOptions): void {
  checkKnown(options, OPTIONS);
  const { gate, unknownRpc = 'pass', address, bucket, retry } = options;
  if (typeof gate?.call !== 'function') throw new TypeError('gate must be a gate, see attach()');
  for (const name of ['rpc', 'table', 'weight', 'status'] as const) {
    const callback: unknown = options[name];
    if (callback !== undefined && typeof callback !== 'function') {
      throw new TypeError(`${name} must be a function, got ${typeof callback}`);
    }
  }
  for (const [name, value] of Object.entries({ address, bucket })) {
    if (value !== undefined && typeof value !== 'string' && typeof value !== 'function')
      throw new TypeError(`${name} must be a string or a function, got ${typeof value}`);
  }
  const isRetry = retry === false || typeof retry === 'object' || typeof retry === 'function';
  if (retry !== undefined && (!isRetry || retry === null))
    throw new TypeError(`retry must be an object, a function or false, got ${String(retry)}`);
  if (typeof retry === 'object') checkKnown(retry, RETRY_OPTIONS, 'retry');
  for (const name of ['maxWaitMs', 'attemptTimeoutMs'] as const) {
    const ms = options[name];
    if (ms !== undefined && !(ms >= 0 && ms <= LONGEST_WAIT_MS)) {
      throw new RangeError(`${name} must be from 0 to ${LONGEST_WAIT_MS}, got ${ms}`);
    }
  }
  if (unknownRpc !== 'pass' && unknownRpc !== 'refuse') {
    throw new TypeError(`unknownRpc must be 'pass' or 'refuse', got ${String(unknownRpc)}`);
  }
}
