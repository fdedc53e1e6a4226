/** The logger that the owner's options may hold. It stays in the owner's thread, as functions cross none. */
import { configProblem } from '../config/config-problem.js';

/** What pino, and `console`, have. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export type LogLevel = keyof Logger;

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** @throws ConfigError that names what is missing. */
export function checkLogger(logger: unknown): Logger {
  if ((typeof logger !== 'object' || logger === null) && typeof logger !== 'function')
    throw configProblem('logger', 'must be an object that logs, such as that of pino', logger);
  for (const level of LEVELS) {
    const log: unknown = (logger as Partial<Logger>)[level];
    if (typeof log !== 'function')
      throw configProblem(`logger.${level}`, 'must be a function', log);
  }
  return logger as Logger;
}

/** The logger, and the options that are left: those cross threads. What are no options is left for others to judge. */
export function takeLogger<Options extends object>(
  options: Options & { readonly logger?: Logger },
): { readonly logger: Logger | undefined; readonly rest: Options } {
  const hasLogger =
    typeof options === 'object' &&
    options !== null &&
    !Array.isArray(options) &&
    Object.hasOwn(options, 'logger');
  if (!hasLogger) return { logger: undefined, rest: options };
  let logger: unknown;
  let rest: unknown;
  try {
    ({ logger, ...rest } = options);
  } catch {
    // A getter threw: it is found again, and named, where options are copied.
    return { logger: undefined, rest: options };
  }
  return {
    logger: logger === undefined ? undefined : checkLogger(logger),
    rest: rest as Options,
  };
}
