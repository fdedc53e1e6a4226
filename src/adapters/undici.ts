import type { Dispatcher } from 'undici';
import { describeValue } from '../shared/quota.js';
import type { TableKey } from '../shared/table-key.js';
import type { Verdict } from '../shared/verdict.js';
import { type CallRetry, RETRY_OPTIONS } from '../workers/call-options.js';
import type { Gate } from '../workers/gate.js';
import { checkKnown } from '../workers/known-options.js';
import { LONGEST_WAIT_MS } from '../workers/wait-options.js';
import { isReplayable } from './undici-body.js';
import { GatedRequest, type RequestPlan } from './undici-gated-request.js';
import { describeRequest, type UndiciRequest, type UndiciResponse } from './undici-message.js';
import { RelayController } from './undici-relay-controller.js';

export type { UndiciRequest, UndiciResponse } from './undici-message.js';
export { classifyHttpStatus, classifyUndiciError } from './undici-verdict.js';

export interface UndiciInterceptorOptions {
  /** What lets requests through: the gate of this thread. */
  readonly gate: Pick<Gate, 'call'>;
  /** RPC type of a request, or of all of them; undefined: not for the gate. Default: `http`. */
  readonly rpc?: string | ((request: UndiciRequest) => string | undefined);
  /** Key that table-level backpressure counts the request for. Default: none. */
  readonly table?: (request: UndiciRequest) => TableKey | undefined;
  /** Peer whose circuit breaker the request is subject to; undefined: none. Default: the request's origin. */
  readonly address?: string | ((request: UndiciRequest) => string | undefined);
  /**
   * Part of the server whose pressure the request heeds, and which the pressure of a response (header `spillway-pressure`) is
   * of; undefined: none. Default: what `address` says, the request's origin if it says nothing.
   */
  readonly bucket?: string | ((request: UndiciRequest) => string | undefined);
  /** Permits that a request takes, with each attempt. Default: 1. */
  readonly weight?: (request: UndiciRequest) => number;
  /** Longest wait, ms. Default: what the configuration says. */
  readonly maxWaitMs?: number;
  /**
   * What a response means, where its status does not tell; undefined: what {@link classifyHttpStatus} says. Asked when the
   * head has come, and of a success with trailers once more at its end.
   */
  readonly classify?: (response: UndiciResponse, request: UndiciRequest) => Verdict | undefined;
  /**
   * Which attempts may follow a bad one, of requests that may be sent twice; `false`: none. What it does not say is as
   * `retry` of the configuration says, where one attempt is the default.
   */
  readonly retry?: CallRetry | false;
  /**
   * Whether a request may be sent twice. Default: its own `idempotent`, else GET, HEAD, OPTIONS, TRACE, PUT and DELETE may. One
   * whose body is a stream, or an iterable, never is, and neither is an upgrade.
   */
  readonly idempotent?: (request: UndiciRequest) => boolean;
  /**
   * What to do with an RPC type that the runtime does not know: `pass` sends the request ungated, `refuse` ends it with
   * UnknownRpcError. Default: `pass`.
   */
  readonly unknownRpc?: 'pass' | 'refuse';
}

/** RFC 9110, 9.2.2. */
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PUT',
  'DELETE',
]);
const OPTIONS: ReadonlySet<string> = new Set<keyof UndiciInterceptorOptions>([
  'gate',
  'rpc',
  'table',
  'address',
  'bucket',
  'weight',
  'maxWaitMs',
  'classify',
  'retry',
  'idempotent',
  'unknownRpc',
]);

/**
 * An interceptor for `dispatcher.compose(...)` that takes every request through a gate before it is dispatched. A request
 * that is refused here ends with the gate's own error (RateLimitExceededError, CircuitOpenError, ...), which `fetch` has as
 * the `cause` of its TypeError. One that is aborted while it waits ends so at once and takes nothing.
 *
 * @throws TypeError, RangeError for bad options.
 */
export function createUndiciInterceptor(
  options: UndiciInterceptorOptions,
): Dispatcher.DispatcherComposeInterceptor {
  const checked = checkOptions(options);
  return (dispatch) => (request, handler) => {
    let plan: RequestPlan | undefined;
    try {
      plan = planRequest(checked, request);
    } catch (error) {
      // As undici does with a request that it does not take.
      handler.onResponseError?.(new RelayController(() => {}), error as Error);
      return false;
    }
    if (plan === undefined) return dispatch(request, handler);
    return new GatedRequest(dispatch, request, handler, plan).start();
  };
}

/** @returns undefined: it is not for the gate. */
function planRequest(
  options: UndiciInterceptorOptions,
  dispatched: Dispatcher.DispatchOptions & { readonly signal?: unknown },
): RequestPlan | undefined {
  // undici ends it without sending it.
  if ((dispatched.signal as AbortSignal | null | undefined)?.aborted === true) return undefined;
  const {
    gate,
    rpc = 'http',
    table,
    address,
    bucket,
    weight,
    maxWaitMs,
    retry,
    unknownRpc,
  } = options;
  const request = describeRequest(dispatched);
  const name = typeof rpc === 'function' ? rpc(request) : rpc;
  if (name === undefined) return undefined;
  // A call without limits is only what `undefined` asks for.
  if (typeof name !== 'string')
    throw new TypeError(`rpc must return a string or undefined, got ${describeValue(name)}`);
  const peer = address === undefined ? request.origin : textOf(address, request);
  return {
    gate,
    rpc: name,
    table: table?.(request),
    address: peer,
    bucket: bucket === undefined ? peer : textOf(bucket, request),
    weight: weight?.(request),
    maxWaitMs,
    retry: maySendTwice(options, request) ? retry : false,
    unknownRpc: unknownRpc ?? 'pass',
    classify: (response) => options.classify?.(response, request),
  };
}

function textOf(
  option: string | ((request: UndiciRequest) => string | undefined),
  request: UndiciRequest,
): string | undefined {
  return typeof option === 'function' ? option(request) : option;
}

function maySendTwice({ idempotent }: UndiciInterceptorOptions, request: UndiciRequest): boolean {
  const { options, method } = request;
  if (method === 'CONNECT' || options.upgrade || !isReplayable(options.body)) return false;
  if (idempotent !== undefined) {
    const answer: unknown = idempotent(request);
    if (typeof answer === 'boolean') return answer;
    throw new TypeError(`idempotent must return a boolean, got ${describeValue(answer)}`);
  }
  return options.idempotent ?? IDEMPOTENT_METHODS.has(method);
}

/** Throws here, once, and not in every request. */
function checkOptions(options: UndiciInterceptorOptions): UndiciInterceptorOptions {
  checkKnown(options, OPTIONS);
  const { gate, rpc, address, bucket, maxWaitMs, retry, unknownRpc } = options;
  if (typeof gate?.call !== 'function') throw new TypeError('gate must be a gate, see attach()');
  for (const name of ['table', 'weight', 'classify', 'idempotent'] as const) {
    const callback: unknown = options[name];
    if (callback !== undefined && typeof callback !== 'function')
      throw new TypeError(`${name} must be a function, got ${describeValue(callback)}`);
  }
  for (const [name, value] of Object.entries({ rpc, address, bucket })) {
    if (value === undefined || typeof value === 'function') continue;
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`${name} must be a string or a function, got ${describeValue(value)}`);
  }
  if (maxWaitMs !== undefined && !(maxWaitMs >= 0 && maxWaitMs <= LONGEST_WAIT_MS))
    throw new RangeError(`maxWaitMs must be from 0 to ${LONGEST_WAIT_MS}, got ${maxWaitMs}`);
  if (retry !== undefined && retry !== false) {
    if (typeof retry !== 'object' || retry === null)
      throw new TypeError(`retry must be an object or false, got ${describeValue(retry)}`);
    checkKnown(retry, RETRY_OPTIONS, 'retry');
  }
  if (unknownRpc !== undefined && unknownRpc !== 'pass' && unknownRpc !== 'refuse')
    throw new TypeError(`unknownRpc must be 'pass' or 'refuse', got ${describeValue(unknownRpc)}`);
  return { ...options };
}
