import { describe, expect, it } from 'vitest';
import { classifyHttpStatus, classifyUndiciError } from '../../src/adapters/undici.js';
import {
  BusyError,
  CircuitOpenError,
  RateLimitExceededError,
  WorkerLostError,
} from '../../src/shared/errors.js';

const NOW = Date.UTC(2026, 0, 5, 12, 0, 0);
const busy = (headers: Record<string, string | string[]>) =>
  classifyHttpStatus({ status: 503, headers }, NOW);

describe('a status', () => {
  it.each([
    [200, 'success'],
    [302, 'success'],
    [400, 'ignored'],
    [404, 'ignored'],
    [408, 'ignored'],
    [429, 'busy'],
    [499, 'ignored'],
    [500, 'failure'],
    [502, 'failure'],
    [503, 'busy'],
    [504, 'failure'],
  ])('%i is %s', (status, verdict) => {
    expect(classifyHttpStatus({ status, headers: {} })).toBe(verdict);
  });
});

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    ['9'.repeat(400), Number.POSITIVE_INFINITY],
    [' 7 ', 7000],
    ['Mon, 05 Jan 2026 12:00:30 GMT', 30_000],
    ['Monday, 05-Jan-26 12:00:30 GMT', 30_000],
    ['Mon Jan  5 12:00:30 2026', 30_000],
    ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
  ])('%j is %i ms from now', (text, retryAfterMs) => {
    expect(busy({ 'retry-after': text })).toEqual({ kind: 'busy', retryAfterMs });
  });

  it.each(['', 'soon', '-5', '1.5', '5.5', '1e3', 'Infinity', 'Mon, x'])(
    '%j is nonsense, and no hint',
    (text) => {
      expect(busy({ 'retry-after': text })).toBe('busy');
    },
  );

  it('is relative to the clock of the peer, where that says its time', () => {
    const headers = {
      'retry-after': 'Mon, 05 Jan 2026 03:00:10 GMT',
      date: 'Mon, 05 Jan 2026 03:00:00 GMT',
    };
    expect(busy(headers)).toEqual({ kind: 'busy', retryAfterMs: 10_000 });
  });

  it('counts once when it comes twice, and with failures too', () => {
    expect(busy({ 'retry-after': ['3', '9'] })).toEqual({ kind: 'busy', retryAfterMs: 3000 });
    expect(classifyHttpStatus({ status: 502, headers: { 'retry-after': '1' } })).toEqual({
      kind: 'failure',
      retryAfterMs: 1000,
    });
  });
});

describe('an error', () => {
  const withCode = (code: string) => Object.assign(new Error(code), { code });
  it.each([
    ['ECONNREFUSED', 'failure'],
    ['ECONNRESET', 'failure'],
    ['ENOTFOUND', 'failure'],
    ['UND_ERR_CONNECT_TIMEOUT', 'failure'],
    ['UND_ERR_HEADERS_TIMEOUT', 'failure'],
    ['UND_ERR_BODY_TIMEOUT', 'failure'],
    ['UND_ERR_SOCKET', 'failure'],
    ['HPE_INVALID_CONSTANT', 'failure'],
    ['UND_ERR_ABORTED', 'ignored'],
    ['UND_ERR_DESTROYED', 'ignored'],
    ['UND_ERR_INVALID_ARG', 'ignored'],
  ])('%s is %s', (code, verdict) => {
    expect(classifyUndiciError(withCode(code))).toBe(verdict);
  });

  it.each([null, undefined, 'text', 0])('that is %j is a failure', (error) => {
    expect(classifyUndiciError(error)).toBe('failure');
  });

  it('that stands for a status is what that is, but never a success', () => {
    const failed = (statusCode: number, headers?: object | null) =>
      classifyUndiciError(Object.assign(new Error('status'), { statusCode, headers }));
    expect(failed(404)).toBe('ignored');
    expect(failed(503, { 'retry-after': '1' })).toEqual({ kind: 'busy', retryAfterMs: 1000 });
    expect(failed(500, null)).toBe('failure');
    expect(failed(200)).toBe('failure');
  });

  it('of this package is what the package says', () => {
    const limited = new RateLimitExceededError('no', { retryAfterMs: 1, stage: 'host' });
    expect(classifyUndiciError(limited)).toBe('ignored');
    const open = new CircuitOpenError('open', { address: 'a:1', retryAfterMs: 1 });
    expect(classifyUndiciError(open)).toBe('ignored');
    expect(classifyUndiciError(new BusyError('busy'))).toBe('busy');
    expect(classifyUndiciError(new WorkerLostError('lost'))).toBe('failure');
  });
});
