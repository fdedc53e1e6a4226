import { InterceptingCall, type Interceptor, type Metadata, status } from '@grpc/grpc-js';
import { UnknownRpcError } from '../shared/errors.js';
import type { Verdict } from '../shared/verdict.js';
import type { Gate } from '../workers/gate.js';
import type { Outcome } from '../workers/outcome.js';
import { GatedCall, LONGEST_WAIT_MS, type Pass } from './grpc-gated-call.js';
import { REFUSED_KEY } from './grpc-refusal.js';

/** What the callbacks of the interceptor get to see of a call. */
export interface GrpcCall {
  /** Full path, `/doris.cloud.MetaService/CommitRowset`. */
  readonly path: string;
  /** The request, where the method takes a single one; undefined for client streams. */
  readonly request: unknown;
  readonly metadata: Metadata;
}

export interface GrpcInterceptorOptions {
  /** What lets calls through: the gate of this thread. */
  readonly gate: Pick<Gate, 'call'>;
  /**
   * RPC type of a method's path; undefined: not for the gate. Default: {@link grpcRpcName}, the method's own name in
   * snake case.
   */
  readonly rpc?: (path: string) => string | undefined;
  /** Key that table-level backpressure counts the call for. Default: none. */
  readonly table?: (call: GrpcCall) => bigint | number | string | undefined;
  /** Permits that the call takes. Default: 1. */
  readonly weight?: (call: GrpcCall) => number;
  /** Longest wait, ms; a call's own deadline bounds it too. Default: what the configuration says. */
  readonly maxWaitMs?: number;
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
 * any other answer, and what the caller cancelled or this package refused, says nothing about it.
 */
export function classifyGrpcStatus(end: {
  readonly code: number;
  readonly metadata?: Metadata;
}): Verdict {
  if (wasRefusedHere(end)) return 'ignored';
  switch (end.code) {
    case status.OK:
      return 'success';
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
  if (typeof error?.code !== 'number') return 'failure';
  return classifyGrpcStatus(error as { code: number; metadata?: Metadata });
}

/** Whether a status, or a `ServiceError`, is of a call that the interceptor ended before it was sent. */
export function wasRefusedHere(end: { readonly metadata?: Metadata }): boolean {
  return end.metadata !== undefined && end.metadata.get(REFUSED_KEY).length > 0;
}

/**
 * A client interceptor that takes every call through a gate before it is sent. A refused call ends with
 * RESOURCE_EXHAUSTED, with the refusal as `cause` of its `ServiceError` and in its metadata (`spillway-refused`,
 * `spillway-retry-after-ms`), and is never counted as BUSY. A call that is cancelled, or whose deadline passes, while it
 * waits ends so at once and takes nothing.
 *
 * @throws TypeError, RangeError for bad options.
 */
export function createGrpcInterceptor(options: GrpcInterceptorOptions): Interceptor {
  const { gate, table, weight, maxWaitMs, unknownRpc = 'pass', rpc = grpcRpcName } = options;
  checkOptions(options);
  return (callOptions, nextCall) => {
    const { path } = callOptions.method_definition;
    const pass: Pass = async ({ request, metadata, signal, maxWaitMs: patience }, attempt) => {
      const name = rpc(path);
      if (name === undefined) return { gated: false };
      const call: GrpcCall = { path, request, metadata };
      const key = table?.(call);
      const admission = {
        rpc: name,
        signal,
        classify: classifyEnd,
        ...(key !== undefined && { table: key }),
        ...(weight !== undefined && { weight: weight(call) }),
        ...(patience !== undefined && { maxWaitMs: patience }),
      };
      try {
        await gate.call(admission, attempt);
        return { gated: true };
      } catch (error) {
        if (unknownRpc === 'pass' && error instanceof UnknownRpcError) return { gated: false };
        throw error;
      }
    };
    return new InterceptingCall(new GatedCall(callOptions, nextCall, pass, maxWaitMs));
  };
}

/** Attempts always fulfil, with the status that the call ended with. */
function classifyEnd(outcome: Outcome<{ code: number; metadata?: Metadata }>): Verdict {
  return outcome.ok ? classifyGrpcStatus(outcome.value) : 'ignored';
}

/** Throws here, once, and not in every call. */
function checkOptions(options: GrpcInterceptorOptions): void {
  const { gate, maxWaitMs, unknownRpc = 'pass' } = options;
  if (typeof gate?.call !== 'function') throw new TypeError('gate must be a gate, see attach()');
  for (const name of ['rpc', 'table', 'weight'] as const) {
    const callback: unknown = options[name];
    if (callback !== undefined && typeof callback !== 'function') {
      throw new TypeError(`${name} must be a function, got ${typeof callback}`);
    }
  }
  if (maxWaitMs !== undefined && !(maxWaitMs >= 0 && maxWaitMs <= LONGEST_WAIT_MS)) {
    throw new RangeError(`maxWaitMs must be from 0 to ${LONGEST_WAIT_MS}, got ${maxWaitMs}`);
  }
  if (unknownRpc !== 'pass' && unknownRpc !== 'refuse') {
    throw new TypeError(`unknownRpc must be 'pass' or 'refuse', got ${String(unknownRpc)}`);
  }
}
