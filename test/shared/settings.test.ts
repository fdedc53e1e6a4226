import { beforeEach, describe, expect, it } from 'vitest';
import { type Arena, createArena } from '../../src/shared/arena.js';
import { HEADER } from '../../src/shared/layout.js';
import {
  readSettings,
  type Settings,
  settingsIndex,
  writeSettings,
} from '../../src/shared/settings.js';

/** Settings of which every field tells the version. */
const settings = (version: number): Settings => ({
  version,
  maxWaitMs: version * 10,
  maxWaiters: version * 100,
  host: (version & 1) !== 0,
  hostDryRun: (version & 2) !== 0,
  tables: (version & 4) !== 0,
  tablesDryRun: (version & 8) !== 0,
  retry: {
    maxAttempts: version + 1,
    baseDelayMs: version + 2,
    maxDelayMs: version + 3,
    maxRetryAfterMs: version + 4,
    on: (['busy', 'failure', 'refused'] as const).filter((_, bit) => (version & (1 << bit)) !== 0),
    deadlineMs: version + 5,
    attemptTimeoutMs: version + 6,
    budgetRatio: version + 7,
    budgetPerSecond: version + 8,
    budgetBurst: version + 9,
  },
  peers: { connectTimeoutMs: version + 10, connectRetries: version + 11 },
});

describe('the settings in the arena', () => {
  let arena: Arena;
  beforeEach(() => {
    ({ arena } = createArena({ threads: 1, rpcs: 1, pairs: 1 }, true));
  });

  it('read as they were written, through many rounds of the four blocks', () => {
    for (let version = 1; version <= 40; version++) {
      writeSettings(arena, settings(version));
      expect(readSettings(arena)).toEqual(settings(version));
    }
  });

  it('change their index with every change', () => {
    const seen = new Set<number>();
    for (let version = 1; version <= 10; version++) {
      seen.add(settingsIndex(arena));
      writeSettings(arena, settings(version));
    }
    expect(seen.size).toBe(10);
  });

  it.each([1, 2, 3, 4, 5, 9])(
    'are never read half-changed by who is held up while %d changes pass',
    (changes) => {
      // Held up before each of the reads that follow the index.
      for (let heldAt = 0; heldAt < 16; heldAt++) {
        writeSettings(arena, settings(1));
        let reads = 0;
        const f64 = new Proxy(arena.f64, {
          get(target, key) {
            if (reads++ === heldAt)
              for (let i = 0; i < changes; i++) writeSettings(arena, settings(2 + i));
            return target[key as unknown as number];
          },
        });
        const seen = readSettings({ ...arena, f64 });
        expect(seen).toEqual(settings(seen.version));
      }
    },
  );

  it('are never read from the block that is being written', () => {
    writeSettings(arena, settings(1));
    let reads = 0;
    const f64 = new Proxy(arena.f64, {
      get(target, key) {
        if (reads++ === 1) {
          for (const version of [2, 3, 4]) writeSettings(arena, settings(version));
          // The fourth change, cut short: its block is ours.
          const before = settingsIndex(arena);
          writeSettings(arena, settings(5));
          Atomics.store(arena.i32, HEADER.SETTINGS_INDEX >>> 2, before);
        }
        return target[key as unknown as number];
      },
    });
    expect(readSettings({ ...arena, f64 })).toEqual(settings(4));
  });
});
