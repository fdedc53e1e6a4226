import { ConfigError } from '../../shared/errors.js';
import type { AdminListenOptions, AdminStore } from '../../workers/admin-servers.js';
import { configProblem } from '../../workers/config/config-problem.js';
import { isPlainObject } from '../../workers/config/plain-copy.js';
import { isToken, TOKEN_RULE } from './bearer-token.js';

export interface ResolvedListenOptions {
  readonly port: number;
  readonly host: string;
  readonly token: string | undefined;
  readonly stores: Readonly<Record<string, AdminStore>>;
}

export const LISTEN_OPTIONS: readonly string[] = ['port', 'host', 'token', 'stores'];
const MAX_STORES = 64;
const MAX_NAME_LENGTH = 256;

/** Frozen, with defaults. @throws ConfigError for the first thing that is wrong; a token is never quoted. */
export function resolveListenOptions(given: AdminListenOptions): ResolvedListenOptions {
  if (!isPlainObject(given)) throw configProblem('options', 'must be an object', given);
  for (const field of Object.keys(given)) {
    if (LISTEN_OPTIONS.includes(field)) continue;
    const value = field.toLowerCase().includes('token') ? 'a value' : given[field];
    throw configProblem(field, `is no option (there are ${LISTEN_OPTIONS.join(', ')})`, value);
  }
  const { port, host = '127.0.0.1', token, stores } = given as AdminListenOptions;
  if (!Number.isInteger(port) || port < 0 || port > 65_535 || Object.is(port, -0)) {
    throw configProblem('port', 'must be an integer from 0 to 65535', port);
  }
  if (typeof host !== 'string' || !/^[\w.:%-]{1,253}$/.test(host)) {
    throw configProblem('host', 'must be an address, or a name that has one', host);
  }
  if (token !== undefined && !isToken(token)) throw tokenProblem(token);
  return Object.freeze({ port, host, token, stores: readStores(stores) });
}

export function tokenProblem(token: unknown): ConfigError {
  const came =
    typeof token === 'string' ? `${token.length} characters` : `a value of type ${typeof token}`;
  return new ConfigError(`token ${TOKEN_RULE}, got ${came}`, {
    field: 'token',
    rule: TOKEN_RULE,
    value: came,
  });
}

export function readStores(given: unknown = {}): Readonly<Record<string, AdminStore>> {
  if (!isPlainObject(given)) {
    throw configProblem('stores', 'must be an object of stores by name', given);
  }
  const stores = Object.entries(given);
  if (stores.length > MAX_STORES) {
    throw configProblem('stores', `must have at most ${MAX_STORES} entries`, stores.length);
  }
  for (const [name, store] of stores) {
    if (name === '' || name.length > MAX_NAME_LENGTH) {
      throw configProblem('stores', `must have names of 1 to ${MAX_NAME_LENGTH} characters`, name);
    }
    if (!isStore(store)) throw configProblem(`stores.${name}`, 'must be a key-value store', store);
  }
  return Object.freeze(Object.fromEntries(stores) as Record<string, AdminStore>);
}

function isStore(value: unknown): value is AdminStore {
  const store = value as Partial<AdminStore> | null | undefined;
  return typeof store?.stats === 'function' && typeof store.stalledMs === 'function';
}
