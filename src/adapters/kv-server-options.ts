import type { ServerCredentials } from '@grpc/grpc-js';
import { ConfigError } from '../shared/errors.js';
import { describeValue } from '../shared/quota.js';
import type { KvStore } from '../workers/kv/kv-store.js';

export interface KvServerOptions {
  readonly store: Pick<KvStore, 'put' | 'get' | 'scan' | 'tables'>;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: one that is free. */
  readonly port?: number;
  /** Default: none, plain text. */
  readonly credentials?: ServerCredentials;
  /** `host:port` that `Describe` names as the leader of every bucket. Default: where it listens, if that is one address. */
  readonly advertise?: string;
  /** Longest message that is read, and most bytes of the values of one GetKv. Default 32 MiB. */
  readonly maxMessageBytes?: number;
}

export interface ResolvedKvServerOptions extends Required<Omit<KvServerOptions, 'advertise'>> {
  /** As it stands in front of a port. */
  readonly host: string;
  readonly advertise: string | undefined;
}

/** All there are. */
export const KV_SERVER_OPTIONS: ReadonlySet<string> = new Set<keyof KvServerOptions>([
  'store',
  'host',
  'port',
  'credentials',
  'advertise',
  'maxMessageBytes',
]);

/** Of every address of the machine: nobody elsewhere reaches it by that name. */
const WILDCARD = /^(?:0\.0\.0\.0|\[(?:[0:]+)\])$/;

/** Frozen, with defaults. `ConfigError` with field, rule and what came. */
export function resolveKvServerOptions(
  given: KvServerOptions,
  { ServerCredentials }: Pick<typeof import('@grpc/grpc-js'), 'ServerCredentials'>,
): ResolvedKvServerOptions {
  if (typeof given !== 'object' || given === null)
    refuse('options', 'an object with a store', given);
  for (const field of Object.keys(given)) {
    if (!KV_SERVER_OPTIONS.has(field)) refuse(field, 'an option of a key-value server', field);
  }
  const {
    store,
    host = '127.0.0.1',
    port = 0,
    credentials = ServerCredentials.createInsecure(),
    advertise,
    maxMessageBytes = 32 * 1024 * 1024,
  } = given;
  if (typeof store?.put !== 'function' || typeof store.tables !== 'function')
    refuse('store', 'a key-value store', store);
  if (typeof host !== 'string' || host === '') refuse('host', 'a name or an address', host);
  whole('port', port, 0, 65_535);
  whole('maxMessageBytes', maxMessageBytes, 1, 2 ** 31 - 1);
  if (!(credentials instanceof ServerCredentials))
    refuse('credentials', 'ServerCredentials of @grpc/grpc-js', credentials);
  const address = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  if (advertise === undefined) {
    if (WILDCARD.test(address)) refuse('advertise', `given where host is ${host}`, advertise);
  } else if (typeof advertise !== 'string' || !/^.+:\d{1,5}$/.test(advertise))
    refuse('advertise', "'host:port'", advertise);
  return Object.freeze({ store, host: address, port, credentials, advertise, maxMessageBytes });
}

function whole(field: string, value: unknown, least: number, most: number): void {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return;
  refuse(field, `an integer from ${least} to ${most}`, value);
}

function refuse(field: string, rule: string, value: unknown): never {
  const message = `${field} must be ${rule}, got ${describeValue(value)}`;
  throw new ConfigError(message, { field, rule, value });
}
