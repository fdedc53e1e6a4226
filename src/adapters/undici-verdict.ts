/** What a response of HTTP, or an error of undici, says about the peer. */

import { classifyByError } from '../shared/classify-by-error.js';
import { isSpillwayError } from '../shared/errors.js';
import { PRESSURE_KEY, parsePressure } from '../shared/pressure/pressure-text.js';
import type { Verdict } from '../shared/verdict.js';
import type { UndiciResponse } from './undici-message.js';

/** Errors that undici raises without the peer having done anything wrong. */
const LOCAL_CODES: ReadonlySet<unknown> = new Set([
  'UND_ERR_ABORT',
  'UND_ERR_ABORTED',
  'UND_ERR_BPL_MISSING_UPSTREAM',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_INVALID_RETURN_VALUE',
  'UND_ERR_MAX_ORIGINS_REACHED',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
]);

/**
 * 429 and 503 are BUSY, any other 5xx is a failure, both with what Retry-After says as a hint; any other 4xx says nothing
 * about the peer; everything else is a success. `nowMs` is of the wall clock, as a date in Retry-After is.
 */
export function classifyHttpStatus(
  { status, headers }: Pick<UndiciResponse, 'status' | 'headers'>,
  nowMs: number = Date.now(),
): Verdict {
  if (status < 400) return 'success';
  const isBusy = status === 429 || status === 503;
  if (status < 500 && !isBusy) return 'ignored';
  const kind = isBusy ? 'busy' : 'failure';
  const retryAfterMs = parseRetryAfter(headers, nowMs);
  return retryAfterMs === undefined ? kind : { kind, retryAfterMs };
}

/**
 * No connection, no answer in time, a reset: failures. What was wrong on this side says nothing about the peer. An error
 * that stands for a status, as of undici's `responseError` and `retry` interceptors, is what that status is.
 */
export function classifyUndiciError(error: unknown): Verdict {
  if (isSpillwayError(error)) return classifyByError({ ok: false, error });
  const { code, statusCode, headers } = (error ?? {}) as {
    readonly code?: unknown;
    readonly statusCode?: unknown;
    readonly headers?: UndiciResponse['headers'] | null;
  };
  if (typeof statusCode === 'number') {
    const verdict = classifyHttpStatus({ status: statusCode, headers: headers ?? {} });
    return verdict === 'success' ? 'failure' : verdict;
  }
  return LOCAL_CODES.has(code) ? 'ignored' : 'failure';
}

/** Of the header `spillway-pressure`; undefined: none, or nothing that means anything. Never throws, whatever has come. */
export function httpPressure(headers: UndiciResponse['headers']): number | undefined {
  const value = headers[PRESSURE_KEY];
  if (value === undefined) return undefined;
  return parsePressure(Array.isArray(value) ? value.join(',') : value);
}

/**
 * RFC 9110, 10.2.3: seconds, or a date. The date is taken relative to the response's own `Date`, so that a peer whose
 * clock is wrong is understood nevertheless. @returns ms from now, never negative; undefined: nothing, or nonsense.
 */
function parseRetryAfter(headers: UndiciResponse['headers'], nowMs: number): number | undefined {
  const text = single(headers['retry-after']);
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const atMs = parseHttpDate(text);
  if (atMs === undefined) return undefined;
  return Math.max(atMs - (parseHttpDate(single(headers['date'])) ?? nowMs), 0);
}

function single(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}

/** The three forms of RFC 9110, 5.6.7; the one of asctime does not say that it is GMT. */
function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined || !/^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/.test(text)) return undefined;
  const atMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : atMs;
}
