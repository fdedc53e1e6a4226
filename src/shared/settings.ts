/**
 * The settings that every thread obeys, in the arena: one of four blocks is in force, the next is written while nobody
 * looks and published by its index. A reader that was held up while three changes passed reads again.
 */
import type { Arena } from './arena.js';
import { FLAG, HEADER, SETTINGS, SETTINGS_BYTES } from './layout.js';

export interface Settings {
  /** Counts configuration changes from 1. */
  readonly version: number;
  readonly maxWaitMs: number;
  readonly maxWaiters: number;
  readonly host: boolean;
  readonly hostDryRun: boolean;
  readonly tables: boolean;
  readonly tablesDryRun: boolean;
}

const BLOCKS = 4;
const INDEX = HEADER.SETTINGS_INDEX >>> 2;

/** Changes with the settings. */
export function settingsIndex({ i32 }: Arena): number {
  return Atomics.load(i32, INDEX);
}

export function readSettings({ i32, f64 }: Arena): Settings {
  for (;;) {
    const index = Atomics.load(i32, INDEX);
    const block = HEADER.SETTINGS + (index % BLOCKS) * SETTINGS_BYTES;
    const flags = i32[(block + SETTINGS.FLAGS) >>> 2] as number;
    const settings = {
      version: f64[(block + SETTINGS.VERSION) >>> 3] as number,
      maxWaitMs: f64[(block + SETTINGS.MAX_WAIT_MS) >>> 3] as number,
      maxWaiters: f64[(block + SETTINGS.MAX_WAITERS) >>> 3] as number,
      host: (flags & FLAG.HOST) !== 0,
      hostDryRun: (flags & FLAG.HOST_DRY_RUN) !== 0,
      tables: (flags & FLAG.TABLES) !== 0,
      tablesDryRun: (flags & FLAG.TABLES_DRY_RUN) !== 0,
    };
    if (Atomics.load(i32, INDEX) - index < BLOCKS - 1) return settings;
  }
}

/** One writer. */
export function writeSettings({ i32, f64 }: Arena, settings: Settings): void {
  const index = Atomics.load(i32, INDEX) + 1;
  const block = HEADER.SETTINGS + (index % BLOCKS) * SETTINGS_BYTES;
  f64[(block + SETTINGS.VERSION) >>> 3] = settings.version;
  f64[(block + SETTINGS.MAX_WAIT_MS) >>> 3] = settings.maxWaitMs;
  f64[(block + SETTINGS.MAX_WAITERS) >>> 3] = settings.maxWaiters;
  i32[(block + SETTINGS.FLAGS) >>> 2] =
    (settings.host ? FLAG.HOST : 0) |
    (settings.hostDryRun ? FLAG.HOST_DRY_RUN : 0) |
    (settings.tables ? FLAG.TABLES : 0) |
    (settings.tablesDryRun ? FLAG.TABLES_DRY_RUN : 0);
  Atomics.store(i32, INDEX, index);
}
