import { STATE_LIMITS } from '../backend-state.js';
import { BackendWatch } from '../backend-watch.js';
import type { SqlListenArguments, SqlQueryArguments, WatchArguments } from '../command-line.js';
import { safeText } from '../safe-text.js';
import { FreshRows } from './fresh-rows.js';
import { askOnce } from './one-query.js';
import { printResult } from './print-results.js';
import { scramSecret } from './scram.js';
import { SqlEndpoint } from './sql-endpoint.js';
import type { SessionLimits } from './sql-session.js';

interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const MAX_RESULT_BYTES = 64 * 1024 * 1024;
const MAX_QUERY_BYTES = 16 * 1024 * 1024;

/** Prints the rows, or the error with its SQLSTATE. Resolves to the exit code. */
export async function runQuery(args: SqlQueryArguments, { out, err }: Output): Promise<number> {
  const { results, failure } = await askOnce(args.sql, freshRows(args), limits(args));
  for (const result of results) out(printResult(result, args.format));
  if (failure === undefined) return 0;
  const hint = failure.hint === undefined ? '' : ` (${safeText(failure.hint)})`;
  err(`spillway sql: ${safeText(failure.text)} [${failure.code}]${hint}\n`);
  return 1;
}

/** Serves until `until` resolves. */
export async function runEndpoint(
  args: SqlListenArguments,
  { out }: Output,
  until: Promise<unknown>,
): Promise<number> {
  const { host, password, maxClients } = args;
  const endpoint = new SqlEndpoint({
    host,
    port: args.port,
    rows: freshRows(args),
    secret: password === undefined ? undefined : scramSecret(password),
    maxClients,
    limits: limits(args),
  });
  try {
    const port = await endpoint.listen();
    const shown = host.includes(':') ? `[${host}]` : host;
    out(`spillway sql listens on postgres://${shown}:${port}/postgres\n`);
    await until;
  } finally {
    await endpoint.close();
  }
  return 0;
}

function freshRows({ backends, backendTimeoutMs }: WatchArguments): FreshRows {
  return new FreshRows(
    new BackendWatch(backends, { ...STATE_LIMITS, timeoutMs: backendTimeoutMs }),
  );
}

function limits({ queryTimeoutMs }: { readonly queryTimeoutMs: number }): SessionLimits {
  return {
    timeoutMs: queryTimeoutMs,
    maxQueryBytes: MAX_QUERY_BYTES,
    maxResultBytes: MAX_RESULT_BYTES,
  };
}
