import { ConfigError } from '../../../shared/errors.js';
import { DEFAULT_PUT_LIMITS, type PutLimits } from '../put-limits.js';
import type { Completion } from '../tablet-message.js';
import { bucketOfKey } from './bucket-of-key.js';

/** What a writer goes by. Times in ms. */
export interface WriterConfig {
  /** Keys and values of one bucket's request; a record that is larger goes alone. Default 64 KiB. */
  readonly batchBytes: number;
  /** How long the first record of a batch waits for others, as far as nothing else holds it up. Default 2. */
  readonly lingerMs: number;
  /** Most bytes of records that are accepted and not settled, but for one record. Default 32 MiB. */
  readonly bufferBytes: number;
  /** What a put does that finds no room: wait for it, or fail. Default `wait`. */
  readonly onFull: 'wait' | 'fail';
  /** Longest that a bucket is left alone for its pressure. Default 3000. */
  readonly maxThrottleMs: number;
  /** Pause before a lost or refused batch is tried again; doubles, half of it is jitter. Default 50. */
  readonly minRetryMs: number;
  /** Longest such pause. Default 2000. */
  readonly maxRetryMs: number;
  /** A record that is not acknowledged by then is given up. Default 120,000. */
  readonly deliveryTimeoutMs: number;
  /** How long one attempt waits for its answer. Default 30,000. */
  readonly requestTimeoutMs: number;
  /** When the server answers: durable in its log, or in its store. Default `log`. */
  readonly completion: Completion;
  /** Tables and leaders are asked for again at the latest then. Default 60,000. */
  readonly metadataRefreshMs: number;
  /** Chooses the bucket of a key. Default: a hash of its bytes. */
  readonly partition: (key: Uint8Array, buckets: number) => number;
  /** Send regardless of what the server says of its pressure. For comparisons only. Default false. */
  readonly ignorePressure: boolean;
  /** What the server takes; a record over them is refused before it is sent. */
  readonly limits: Pick<PutLimits, 'maxKeyBytes' | 'maxValueBytes'>;
}

/** As they are given. */
export interface WriterOptions
  extends Partial<Omit<WriterConfig, 'maxThrottleMs' | 'minRetryMs' | 'maxRetryMs' | 'limits'>> {
  readonly pressure?: { readonly maxThrottleMs?: number };
  readonly retry?: { readonly minRetryMs?: number; readonly maxRetryMs?: number };
  readonly limits?: Partial<WriterConfig['limits']>;
}

/** All there are, those of a section apart. */
export const WRITER_OPTIONS: readonly string[] = [
  'batchBytes',
  'lingerMs',
  'bufferBytes',
  'onFull',
  'pressure',
  'retry',
  'deliveryTimeoutMs',
  'requestTimeoutMs',
  'completion',
  'metadataRefreshMs',
  'partition',
  'ignorePressure',
  'limits',
] satisfies readonly (keyof WriterOptions)[];

/** Options that are objects, and what is in them. */
export const WRITER_SECTIONS: Readonly<Record<'pressure' | 'retry' | 'limits', readonly string[]>> =
  {
    pressure: ['maxThrottleMs'],
    retry: ['minRetryMs', 'maxRetryMs'],
    limits: ['maxKeyBytes', 'maxValueBytes'],
  };

/** A day: timers and gRPC deadlines hold it. */
const LONGEST_MS = 86_400_000;

/** Frozen, with defaults. `ConfigError` with field, rule and what came. */
export function resolveWriterConfig(given: WriterOptions): WriterConfig {
  known(given, WRITER_OPTIONS, '', ['target', 'credentials', ...WRITER_OPTIONS]);
  const pressure = section(given.pressure, 'pressure');
  const retry = section(given.retry, 'retry');
  const limits = section(given.limits, 'limits');
  const {
    batchBytes = 65_536,
    lingerMs = 2,
    bufferBytes = 32 * 1024 * 1024,
    onFull = 'wait',
    deliveryTimeoutMs = 120_000,
    requestTimeoutMs = 30_000,
    completion = 'log',
    metadataRefreshMs = 60_000,
    partition = bucketOfKey,
    ignorePressure = false,
  } = given;
  const { maxThrottleMs = 3000 } = pressure;
  const { minRetryMs = 50, maxRetryMs = 2000 } = retry;
  const {
    maxKeyBytes = DEFAULT_PUT_LIMITS.maxKeyBytes,
    maxValueBytes = DEFAULT_PUT_LIMITS.maxValueBytes,
  } = limits;
  if (onFull !== 'wait' && onFull !== 'fail') refuse('onFull', "'wait' or 'fail'", onFull);
  if (completion !== 'log' && completion !== 'flush') {
    refuse('completion', "'log' or 'flush'", completion);
  }
  if (typeof partition !== 'function') refuse('partition', 'a function', partition);
  if (typeof ignorePressure !== 'boolean') refuse('ignorePressure', 'a boolean', ignorePressure);
  whole('retry.minRetryMs', minRetryMs, 1, LONGEST_MS);
  return Object.freeze({
    batchBytes: whole('batchBytes', batchBytes, 1, DEFAULT_PUT_LIMITS.maxBatchBytes),
    lingerMs: whole('lingerMs', lingerMs, 0, LONGEST_MS),
    bufferBytes: whole('bufferBytes', bufferBytes, 1024, 2 ** 40),
    onFull,
    maxThrottleMs: whole('pressure.maxThrottleMs', maxThrottleMs, 0, LONGEST_MS),
    minRetryMs,
    maxRetryMs: whole('retry.maxRetryMs', maxRetryMs, minRetryMs, LONGEST_MS),
    deliveryTimeoutMs: whole('deliveryTimeoutMs', deliveryTimeoutMs, 1, LONGEST_MS),
    requestTimeoutMs: whole('requestTimeoutMs', requestTimeoutMs, 1, LONGEST_MS),
    completion,
    metadataRefreshMs: whole('metadataRefreshMs', metadataRefreshMs, 1, LONGEST_MS),
    partition,
    ignorePressure,
    limits: Object.freeze({
      maxKeyBytes: whole('limits.maxKeyBytes', maxKeyBytes, 1, 2 ** 31 - 1),
      maxValueBytes: whole('limits.maxValueBytes', maxValueBytes, 0, 2 ** 31 - 1),
    }),
  });
}

function section<Section extends object>(
  given: Section | undefined,
  name: keyof typeof WRITER_SECTIONS,
): Section {
  if (given === undefined) return {} as Section;
  if (typeof given !== 'object' || given === null) refuse(name, 'an object', given);
  known(given, WRITER_SECTIONS[name], `${name}.`);
  return given;
}

/** `all`: what there is for who made the writer, if that is more. */
function known(given: object, fields: readonly string[], prefix: string, all = fields): void {
  for (const field of Object.keys(given)) {
    if (fields.includes(field)) continue;
    const rule = `no option, there are ${all.join(', ')}`;
    const value: unknown = Reflect.get(given, field);
    throw new ConfigError(`${prefix}${field} is ${rule}`, {
      field: `${prefix}${field}`,
      rule,
      value,
    });
  }
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
