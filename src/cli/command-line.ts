import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type BackendAddress, readBackends, readTokens } from './backend-address.js';
import type { ResultFormat } from './sql/print-results.js';
import { UsageError } from './usage-error.js';

export interface WatchArguments {
  readonly backends: readonly BackendAddress[];
  readonly backendTimeoutMs: number;
}

export interface SqlQueryArguments extends WatchArguments {
  readonly kind: 'sql-query';
  readonly sql: string;
  readonly format: ResultFormat;
  readonly queryTimeoutMs: number;
}

export interface SqlListenArguments extends WatchArguments {
  readonly kind: 'sql-listen';
  readonly host: string;
  readonly port: number;
  readonly password: string | undefined;
  readonly maxClients: number;
  readonly queryTimeoutMs: number;
}

export type SortKey = 'severity' | 'qps' | 'table' | 'since';
export const SORT_KEYS: readonly SortKey[] = ['severity', 'qps', 'table', 'since'];

export interface TopArguments extends WatchArguments {
  readonly kind: 'top';
  readonly intervalMs: number;
  readonly sort: SortKey;
  readonly filter: string;
  readonly once: boolean;
}

export type Command =
  | SqlQueryArguments
  | SqlListenArguments
  | TopArguments
  | { readonly kind: 'help'; readonly about: 'sql' | 'top' | undefined }
  | { readonly kind: 'version' };

type Environment = Readonly<Record<string, string | undefined>>;

const WATCH = {
  backends: { type: 'string' },
  'token-file': { type: 'string' },
  'backend-timeout-ms': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const SQL = {
  ...WATCH,
  listen: { type: 'string' },
  'password-file': { type: 'string' },
  'max-clients': { type: 'string' },
  'query-timeout-ms': { type: 'string' },
  json: { type: 'boolean' },
  csv: { type: 'boolean' },
} as const;

const TOP = {
  ...WATCH,
  interval: { type: 'string' },
  sort: { type: 'string' },
  filter: { type: 'string' },
  once: { type: 'boolean' },
} as const;

/** @throws UsageError that names the argument. Reads the files that the arguments name. */
export function readCommand(args: readonly string[], environment: Environment): Command {
  const [name, ...rest] = args;
  switch (name) {
    case undefined:
    case 'help':
    case '--help':
    case '-h':
      return { kind: 'help', about: readTopic(rest) };
    case '--version':
    case '-v':
      return { kind: 'version' };
    case 'sql':
      return readSql(rest, environment);
    case 'top':
      return readTop(rest, environment);
    default:
      throw new UsageError(`unknown command ${JSON.stringify(name)}: it is sql, top or help`);
  }
}

function readTopic([about]: readonly string[]): 'sql' | 'top' | undefined {
  if (about === undefined || about === 'sql' || about === 'top') return about;
  throw new UsageError(`there is no help on ${JSON.stringify(about)}: it is sql or top`);
}

function readSql(args: readonly string[], environment: Environment): Command {
  const { values, positionals } = parse({ args: [...args], options: SQL, allowPositionals: true });
  if (values.help) return { kind: 'help', about: 'sql' };
  const [sql, ...more] = positionals;
  if (more.length > 0) throw new UsageError('one query at a time: quote it');
  const queryTimeoutMs = integer('query-timeout-ms', values['query-timeout-ms'], 30_000, 1);
  if (values.listen === undefined) {
    if (sql === undefined || sql.trim() === '') {
      throw new UsageError('a query is missing, or --listen HOST:PORT');
    }
    refuse('max-clients', values['max-clients'], 'goes with --listen');
    refuse('password-file', values['password-file'], 'goes with --listen');
    if (values.json && values.csv) throw new UsageError('--json and --csv exclude each other');
    const format = values.json ? 'json' : values.csv ? 'csv' : 'table';
    return { kind: 'sql-query', sql, format, queryTimeoutMs, ...readWatch(values, environment) };
  }
  if (sql !== undefined) throw new UsageError('a query and --listen exclude each other');
  refuse('json', values.json, 'goes with a query');
  refuse('csv', values.csv, 'goes with a query');
  const { host, port } = readListen(values.listen);
  const password = readPassword(values['password-file'], environment['SPILLWAY_SQL_PASSWORD']);
  if (password === undefined && !isLoopback(host)) {
    throw new UsageError(
      `--listen ${values.listen} is not a loopback address: it needs --password-file or SPILLWAY_SQL_PASSWORD`,
    );
  }
  return {
    kind: 'sql-listen',
    host,
    port,
    password,
    maxClients: integer('max-clients', values['max-clients'], 8, 1, 64),
    queryTimeoutMs,
    ...readWatch(values, environment),
  };
}

function readTop(args: readonly string[], environment: Environment): Command {
  const { values } = parse({ args: [...args], options: TOP, allowPositionals: false });
  if (values.help) return { kind: 'help', about: 'top' };
  const sort = SORT_KEYS.find((key) => key === (values.sort ?? 'severity'));
  if (sort === undefined) {
    throw new UsageError(`--sort must be one of ${SORT_KEYS.join(', ')}, got ${values.sort}`);
  }
  const interval = values.interval ?? '1';
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(interval) ? Number(interval) : Number.NaN;
  if (!(seconds >= 0.1 && seconds <= 3600)) {
    throw new UsageError(`--interval must be seconds from 0.1 to 3600, got ${interval}`);
  }
  return {
    kind: 'top',
    intervalMs: seconds * 1000,
    sort,
    filter: values.filter ?? '',
    once: values.once ?? false,
    ...readWatch(values, environment),
  };
}

function readWatch(
  values: { backends?: string; 'token-file'?: string; 'backend-timeout-ms'?: string },
  environment: Environment,
): WatchArguments {
  const backends = values.backends ?? environment['SPILLWAY_BACKENDS'] ?? '';
  if (backends.trim() === '') {
    throw new UsageError('--backends URL,... is missing, and so is SPILLWAY_BACKENDS');
  }
  const tokens = readTokens(values['token-file'], environment['SPILLWAY_TOKEN']);
  return {
    backends: readBackends(backends, tokens),
    backendTimeoutMs: integer('backend-timeout-ms', values['backend-timeout-ms'], 1000, 1, 60_000),
  };
}

/** `parseArgs` with its complaints as ours. */
function parse<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs<Config>({ ...config, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function integer(
  name: string,
  text: string | undefined,
  otherwise: number,
  least: number,
  most: number = 86_400_000,
): number {
  if (text === undefined) return otherwise;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`--${name} must be an integer from ${least} to ${most}, got ${text}`);
}

function refuse(name: string, value: unknown, rule: string): void {
  if (value !== undefined) throw new UsageError(`--${name} ${rule}`);
}

/** `HOST:PORT`, `[::1]:PORT` or `PORT`. */
function readListen(text: string): { host: string; port: number } {
  const match = /^(?:(\[[0-9a-f:.]+\]|[^:[\]\s/]+):)?(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2] ?? Number.NaN);
  if (match === null || port > 65_535) {
    throw new UsageError(`--listen must be HOST:PORT, got ${JSON.stringify(text)}`);
  }
  return { host: (match[1] ?? '127.0.0.1').replace(/^\[|\]$/g, ''), port };
}

function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1';
}

function readPassword(
  file: string | undefined,
  environment: string | undefined,
): string | undefined {
  if (file === undefined) return environment === '' ? undefined : environment;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new UsageError(`--password-file cannot be read: ${file} (${code})`);
  }
  const password = text.split(/\r?\n/)[0] ?? '';
  if (password === '') throw new UsageError(`${file} holds no password`);
  return password;
}
