/** What the admin server answers when it does not do what was asked: one JSON form, `{ error: { code, message, field? } }`. */
import { STATUS_CODES } from 'node:http';
import { ConfigConflictError, ConfigError, RuntimeClosedError } from '../../shared/errors.js';
import { SECURITY_HEADERS } from './security-headers.js';

export interface AdminRefusal {
  readonly status: number;
  /** Stable, machine-readable. */
  readonly code: string;
  readonly message: string;
  /** The option that is wrong. */
  readonly field?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** By status. */
export const REFUSAL_CODES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  417: 'expectation_failed',
  431: 'headers_too_large',
  500: 'internal',
  501: 'not_installed',
  503: 'unavailable',
};

export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): AdminRefusal {
  return { status, code: REFUSAL_CODES[status] ?? 'refused', message, headers };
}

/** Of whatever a handler threw. What is not known to be meant for the caller is not shown. */
export function refusalOf(error: unknown): AdminRefusal {
  if (error instanceof ConfigError) {
    const { code, message, field } = error;
    return { status: 400, code, message, field };
  }
  if (error instanceof ConfigConflictError) {
    const { code, message, version } = error;
    return { status: 412, code, message, headers: { etag: `"${version}"` } };
  }
  if (error instanceof RuntimeClosedError) {
    return { status: 503, code: error.code, message: error.message };
  }
  const { statusCode } = (error ?? {}) as { readonly statusCode?: unknown };
  if (statusCode === 415) return refusal(415, 'content-type must be application/json');
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return refusal(statusCode, (error as Error).message);
  }
  return refusal(500, 'it could not be answered');
}

export function refusalBody({ code, message, field }: AdminRefusal): string {
  return JSON.stringify({ error: { code, message, ...(field !== undefined && { field }) } });
}

/** A whole response, for a connection that speaks no proper HTTP. */
export function rawResponse(told: AdminRefusal): string {
  const body = refusalBody(told);
  return [
    `HTTP/1.1 ${told.status} ${STATUS_CODES[told.status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
