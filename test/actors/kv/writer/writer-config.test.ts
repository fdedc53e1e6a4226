import { describe, expect, it } from 'vitest';
import {
  resolveWriterConfig,
  type WriterOptions,
} from '../../../../src/actors/kv/writer/writer-config.js';
import { ConfigError } from '../../../../src/shared/errors.js';

const BAD_NUMBERS = [Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5, '5', null, true];

describe('options of a writer', () => {
  it.each([
    'batchBytes',
    'lingerMs',
    'bufferBytes',
    'deliveryTimeoutMs',
    'requestTimeoutMs',
    'metadataRefreshMs',
    'pressure.maxThrottleMs',
    'retry.minRetryMs',
    'retry.maxRetryMs',
    'limits.maxKeyBytes',
    'limits.maxValueBytes',
  ])('%s is a whole number in its range', (path) => {
    for (const value of BAD_NUMBERS) {
      const [outer = '', inner] = path.split('.');
      const given = { [outer]: inner === undefined ? value : { [inner]: value } };
      const resolve = (): unknown => resolveWriterConfig(given as WriterOptions);
      expect(resolve, `${String(value)}`).toThrow(ConfigError);
      expect(resolve).toThrow(`${path} must be an integer from `);
      expect(resolve).toThrow(`, got ${String(value)}`);
    }
  });

  it.each([
    [{ onFull: 'drop' }, "onFull must be 'wait' or 'fail', got drop"],
    [{ completion: 'sometime' }, "completion must be 'log' or 'flush', got sometime"],
    [{ partition: 3 }, 'partition must be a function, got 3'],
    [{ ignorePressure: 1 }, 'ignorePressure must be a boolean, got 1'],
    [{ linger: 3 }, 'linger is no option, there are target, credentials, batchBytes, '],
    [{ pressure: { max: 3 } }, 'pressure.max is no option, there are maxThrottleMs'],
    [{ retry: 3 }, 'retry must be an object, got 3'],
    [{ retry: { minRetryMs: 9, maxRetryMs: 8 } }, 'retry.maxRetryMs must be an integer from 9 to'],
  ])('%j: %s', (given, message) => {
    expect(() => resolveWriterConfig(given as WriterOptions)).toThrow(message);
  });

  it('leave the caller alone: the result is a frozen copy', () => {
    const given = { pressure: { maxThrottleMs: 5 } };
    const config = resolveWriterConfig(given);
    given.pressure.maxThrottleMs = 6;
    expect(config.maxThrottleMs).toBe(5);
    expect(Object.isFrozen(config) && Object.isFrozen(config.limits)).toBe(true);
  });
});
