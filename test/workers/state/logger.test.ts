import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/shared/errors.js';
import { checkLogger, takeLogger } from '../../../src/workers/state/logger.js';

const log = (): void => undefined;
const good = { debug: log, info: log, warn: log, error: log };

describe('the option logger', () => {
  it.each([null, 5, 'console', true])('refuses %s', (logger) => {
    expect(() => checkLogger(logger)).toThrow(ConfigError);
    expect(() => checkLogger(logger)).toThrow(
      /^logger must be an object that logs, such as that of pino, got /,
    );
  });

  it('names the function that is missing', () => {
    const { warn: _, ...rest } = good;
    expect(() => checkLogger(rest)).toThrow('logger.warn must be a function, got undefined');
    expect(() => checkLogger({ ...good, debug: 'yes' })).toThrow(
      "logger.debug must be a function, got 'yes'",
    );
  });

  it('takes the console, and functions that carry the others', () => {
    expect(checkLogger(console)).toBe(console);
    const callable = Object.assign(() => undefined, good);
    expect(checkLogger(callable)).toBe(callable);
  });

  it('is taken out of the options, which stay as they are', () => {
    const options = { backendId: 7, logger: good };
    expect(takeLogger(options)).toEqual({ logger: good, rest: { backendId: 7 } });
    expect(options).toEqual({ backendId: 7, logger: good });
    expect(takeLogger({ backendId: 7, logger: undefined as never })).toEqual({
      logger: undefined,
      rest: { backendId: 7 },
    });
  });

  it('leaves what are no options to those who judge options', () => {
    for (const nothing of [null, undefined, 5, [], 'x'] as never[]) {
      expect(takeLogger(nothing)).toEqual({ logger: undefined, rest: nothing });
    }
    const trap = {
      get logger(): never {
        throw new Error('no');
      },
    };
    expect(takeLogger(trap).rest).toBe(trap);
  });
});
