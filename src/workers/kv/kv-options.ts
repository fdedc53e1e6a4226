import { DEFAULT_PUT_LIMITS, type PutLimits } from '../../actors/kv/put-limits.js';
import { resolveTabletConfig, type TabletConfig } from '../../actors/kv/tablet-config.js';
import { ConfigError } from '../../shared/errors.js';
import type { EngineFactory } from './engine-messages.js';
import type { KvTables } from './kv-directory.js';
import { describeKvEvent, type KvEvent } from './kv-event.js';

export interface KvStoreOptions {
  /** Made if it is not there; held by one store at a time. */
  readonly dir: string;
  /** Tables to have, made if they are not there; those that are there are opened anyway. */
  readonly tables?: KvTables;
  /** Given to every engine beside its `dir`; must be clonable. */
  readonly engineOptions?: Readonly<Record<string, unknown>>;
  /** Threads that engines live on, an integer from 1 to 64. Default 1. */
  readonly engineThreads?: number;
  /** Tablets that flush at a time, an integer >= 1. Default 10. */
  readonly flushThreads?: number;
  readonly tablet?: Partial<TabletConfig>;
  readonly limits?: Partial<PutLimits>;
  /** Bytes of a segment of the log, an integer >= 4096. Default 16 MiB. */
  readonly logSegmentBytes?: number;
  /** Bytes of log from which stores are made to keep what they have, so that it can be trimmed. Default 64 MiB. */
  readonly logCheckpointBytes?: number;
  /** Calls of one bucket that may be under way, an integer from 1 to 16,384. Default 1024. */
  readonly maxInFlight?: number;
  /** Default: a process warning for each. */
  readonly onEvent?: (event: KvEvent) => void;
}

export interface ResolvedKvOptions {
  readonly dir: string;
  readonly tables: KvTables;
  readonly factory: EngineFactory;
  readonly engineOptions: Readonly<Record<string, unknown>>;
  readonly engineThreads: number;
  readonly flushThreads: number;
  readonly tablet: TabletConfig;
  readonly limits: PutLimits;
  readonly logSegmentBytes: number;
  readonly logCheckpointBytes: number;
  readonly maxInFlight: number;
  readonly onEvent: (event: KvEvent) => void;
}

/** All there are, those of a section apart. */
export const KV_STORE_OPTIONS: ReadonlySet<string> = new Set<keyof KvStoreOptions>([
  'dir',
  'tables',
  'engineOptions',
  'engineThreads',
  'flushThreads',
  'tablet',
  'limits',
  'logSegmentBytes',
  'logCheckpointBytes',
  'maxInFlight',
  'onEvent',
]);

/** Frozen, with defaults. `ConfigError` with field, rule and what came. */
export function resolveKvOptions(given: KvStoreOptions, factory: EngineFactory): ResolvedKvOptions {
  for (const field of Object.keys(given)) {
    if (!KV_STORE_OPTIONS.has(field)) refuse(field, 'an option of a key-value store', field);
  }
  if (typeof given.dir !== 'string' || given.dir === '') refuse('dir', 'a path', given.dir);
  // Defaults take the place of undefined alone: null is a mistake like any other.
  const {
    engineThreads = 1,
    flushThreads = 10,
    logSegmentBytes = 2 ** 24,
    logCheckpointBytes = 2 ** 26,
    maxInFlight = 1024,
    onEvent = warn,
  } = given;
  const limits = { ...DEFAULT_PUT_LIMITS, ...given.limits };
  for (const [field, value] of Object.entries(limits)) {
    if (!(field in DEFAULT_PUT_LIMITS)) refuse(`limits.${field}`, 'a limit of puts', value);
    whole(`limits.${field}`, value, 1, 2 ** 31 - 1);
  }
  return Object.freeze({
    dir: given.dir,
    tables: { ...given.tables },
    factory,
    engineOptions: { ...given.engineOptions },
    engineThreads: whole('engineThreads', engineThreads, 1, 64),
    flushThreads: whole('flushThreads', flushThreads, 1, 1024),
    tablet: resolveTabletConfig(given.tablet),
    limits: Object.freeze(limits),
    logSegmentBytes: whole('logSegmentBytes', logSegmentBytes, 4096, 2 ** 30),
    logCheckpointBytes: whole('logCheckpointBytes', logCheckpointBytes, 0, 2 ** 52),
    maxInFlight: whole('maxInFlight', maxInFlight, 1, 16_384),
    onEvent: (event: KvEvent) => {
      try {
        onEvent(event);
      } catch {
        // A listener that throws must not fail the tablet that it is told about.
      }
    },
  });
}

function whole(field: string, value: unknown, least: number, most: number): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) {
    return value as number;
  }
  return refuse(field, `an integer from ${least} to ${most}`, value);
}

function refuse(field: string, rule: string, value: unknown): never {
  throw new ConfigError(`${field} must be ${rule}, got ${String(value)}`, { field, rule, value });
}

function warn(event: KvEvent): void {
  process.emitWarning(describeKvEvent(event), { type: 'SpillwayWarning' });
}
