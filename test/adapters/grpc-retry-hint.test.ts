import { Metadata, status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyGrpcOutcome, classifyGrpcStatus } from '../../src/adapters/grpc.js';
import { grpcRetryAfterMs } from '../../src/adapters/grpc-retry-hint.js';
import { RateLimitExceededError } from '../../src/shared/errors.js';
import { isVerdict } from '../../src/shared/verdict.js';
import { statusDetails } from './retry-info.js';

function metadata(entries: Record<string, string | Buffer>): Metadata {
  const all = new Metadata();
  for (const [key, value] of Object.entries(entries)) all.add(key, value);
  return all;
}
const pushback = (value: string): Metadata => metadata({ 'grpc-retry-pushback-ms': value });
const details = (bytes: Buffer): Metadata => metadata({ 'grpc-status-details-bin': bytes });

describe('pushback', () => {
  it.each([
    ['0', 0],
    ['250', 250],
    ['-1', Number.POSITIVE_INFINITY],
    ['soon', Number.POSITIVE_INFINITY],
    ['1.5', Number.POSITIVE_INFINITY],
    ['9'.repeat(40), Number.POSITIVE_INFINITY],
  ])('%s is %s ms', (value, ms) => {
    expect(grpcRetryAfterMs(pushback(value))).toBe(ms);
  });

  it('twice is not to be understood: no retry', () => {
    const twice = pushback('5');
    twice.add('grpc-retry-pushback-ms', '6');
    expect(grpcRetryAfterMs(twice)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('RetryInfo', () => {
  it.each([
    [{ seconds: 2, nanos: 500_000_000 }, 2500],
    [{ nanos: 1_000_000 }, 1],
    [{ seconds: 86_400 }, 86_400_000],
    [{}, 0],
    [{ seconds: -5 }, undefined],
    [undefined, undefined],
  ])('%j is %s ms', (delay, ms) => {
    expect(grpcRetryAfterMs(details(statusDetails(delay)))).toBe(ms);
  });

  it('gives way to pushback', () => {
    const both = details(statusDetails({ seconds: 2 }));
    both.set('grpc-retry-pushback-ms', '7');
    expect(grpcRetryAfterMs(both)).toBe(7);
  });

  it('that is broken, huge or none is none', () => {
    expect(grpcRetryAfterMs(new Metadata())).toBeUndefined();
    const whole = statusDetails({ seconds: 2 });
    for (let end = 0; end < whole.length; end += 1) {
      const hint = grpcRetryAfterMs(details(whole.subarray(0, end)));
      expect(hint === undefined || hint >= 0).toBe(true);
    }
    expect(grpcRetryAfterMs(details(Buffer.alloc(70_000)))).toBeUndefined();
  });

  it('whatever bytes come, the answer is none or a number that can be waited for', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const hint = grpcRetryAfterMs(details(Buffer.from(bytes)));
        expect(hint === undefined || hint >= 0).toBe(true);
        expect(
          isVerdict(classifyGrpcStatus({ code: 14, metadata: details(Buffer.from(bytes)) })),
        ).toBe(true);
      }),
    );
  });
});

describe('a status with a hint', () => {
  it.each([
    [status.OK, '5', 'success'],
    [status.RESOURCE_EXHAUSTED, '5', { kind: 'busy', retryAfterMs: 5 }],
    [status.UNAVAILABLE, '5', { kind: 'refused', retryAfterMs: 5 }],
    [status.UNAVAILABLE, '-1', { kind: 'failure', retryAfterMs: Number.POSITIVE_INFINITY }],
    [status.INTERNAL, '5', { kind: 'failure', retryAfterMs: 5 }],
    [status.ABORTED, '5', { kind: 'refused', retryAfterMs: 5 }],
    [status.ABORTED, '-1', 'ignored'],
    [status.CANCELLED, '5', 'ignored'],
  ])('%s and %s', (code, value, verdict) => {
    expect(classifyGrpcStatus({ code, metadata: pushback(value) })).toEqual(verdict);
  });

  it('is understood in a ServiceError; what was refused here is the server’s fault in none', () => {
    const error = Object.assign(new Error('e'), { code: 14, metadata: pushback('5') });
    expect(classifyGrpcOutcome({ ok: false, error })).toEqual({ kind: 'refused', retryAfterMs: 5 });
    const refusal = new RateLimitExceededError('', { retryAfterMs: 1, stage: 'host' });
    expect(classifyGrpcOutcome({ ok: false, error: refusal })).toBe('ignored');
  });
});
