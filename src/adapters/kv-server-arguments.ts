import { parseArgs } from 'node:util';
import type { KvTables } from '../workers/kv/kv-directory.js';
import { checkMs } from '../workers/wait-options.js';
import type { OpenKvStoreOptions } from './kv-open.js';

export interface KvServerArguments {
  readonly store: OpenKvStoreOptions;
  readonly host: string;
  readonly port: number;
  readonly advertise: string | undefined;
  /** undefined: no metrics are served. */
  readonly metricsPort: number | undefined;
  /** How long calls under way may take after SIGTERM, ms. */
  readonly drainMs: number;
}

export const KV_SERVER_USAGE = `usage: kv:server --dir DIR --port PORT [options]
  --dir DIR                   made if it is not there
  --port PORT                 0: one that is free
  --host HOST                 127.0.0.1
  --advertise HOST:PORT       leader that Describe names; where it listens,
                              but must be given where that is 0.0.0.0 or ::
  --tables NAME:BUCKETS,...   tables to have; those of the directory are opened anyway
  --metrics-port PORT         serves /metrics, /healthz and /state; 0: one that is free
  --write-buffer-size BYTES   of a memtable; 67108864
  --max-write-buffers N       memtables of a bucket; 8
  --max-background-jobs N     flushes and compactions of all buckets at a time; 4
  --l0-slowdown-trigger N     level-0 files from which pressure is reported; 8
  --max-pending-bytes BYTES   of a bucket, not in its store yet; 67108864
  --flush-threads N           buckets that flush at a time; 10
  --engine-threads N          threads that stores live on; 1
  --log-checkpoint-bytes N    a longer log makes the stores keep what they have; 67108864
  --ignore-stalls             without backpressure: writes wait in the engine. To see what it is good for
  --drain-ms MS               for calls under way after SIGTERM; 5000`;

const OPTIONS = {
  dir: { type: 'string' },
  port: { type: 'string' },
  host: { type: 'string' },
  advertise: { type: 'string' },
  tables: { type: 'string' },
  'metrics-port': { type: 'string' },
  'write-buffer-size': { type: 'string' },
  'max-write-buffers': { type: 'string' },
  'max-background-jobs': { type: 'string' },
  'l0-slowdown-trigger': { type: 'string' },
  'max-pending-bytes': { type: 'string' },
  'flush-threads': { type: 'string' },
  'engine-threads': { type: 'string' },
  'log-checkpoint-bytes': { type: 'string' },
  'ignore-stalls': { type: 'boolean' },
  'drain-ms': { type: 'string' },
} as const;

/** `TypeError` or `RangeError` that says which argument is wrong. */
export function readKvServerArguments(args: readonly string[]): KvServerArguments {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: true });
  const { dir, port, host = '127.0.0.1', tables } = values;
  if (dir === undefined || dir === '') throw new TypeError('--dir is missing');
  if (port === undefined) throw new TypeError('--port is missing');
  const number = (name: Exclude<keyof typeof OPTIONS, 'ignore-stalls'>): number | undefined => {
    const text = values[name];
    if (text === undefined) return undefined;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new RangeError(`--${name} must be an integer >= 0, got ${text}`);
  };
  return {
    store: {
      dir,
      ...given({ tables: tables === undefined ? undefined : readTables(tables) }),
      rocksdb: given({
        writeBufferSize: number('write-buffer-size'),
        maxWriteBufferNumber: number('max-write-buffers'),
        maxBackgroundJobs: number('max-background-jobs'),
        ignoreStalls: values['ignore-stalls'],
      }),
      tablet: given({
        l0SlowdownTrigger: number('l0-slowdown-trigger'),
        maxPendingBytes: number('max-pending-bytes'),
      }),
      ...given({
        flushThreads: number('flush-threads'),
        engineThreads: number('engine-threads'),
        logCheckpointBytes: number('log-checkpoint-bytes'),
      }),
    },
    host,
    port: number('port') ?? 0,
    advertise: values.advertise,
    metricsPort: number('metrics-port'),
    drainMs: checkMs(number('drain-ms'), '--drain-ms') ?? 5000,
  };
}

function readTables(text: string): KvTables {
  return Object.fromEntries(
    text.split(',').map((one) => {
      const match = /^([^:]+):(\d{1,6})$/.exec(one.trim());
      if (match === null) throw new TypeError(`--tables must be NAME:BUCKETS,..., got ${one}`);
      return [match[1] as string, Number(match[2])];
    }),
  );
}

type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** Only what was given: the defaults are elsewhere. */
function given<Fields extends Record<string, unknown>>(fields: Fields): Given<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Given<Fields>;
}
