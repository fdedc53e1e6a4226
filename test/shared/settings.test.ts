import { beforeEach, describe, expect, it } from 'vitest';
import { type Arena, createArena } from '../../src/shared/arena.js';
import { HEADER } from '../../src/shared/layout.js';
import {
  readSettings,
  type Settings,
  settingsIndex,
  writeSettings,
} from '../../src/shared/settings.js';
import { applyConfig } from '../../src/workers/apply-config.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';

/** The settings of the default configuration: every field that there is. */
function defaults(): Settings {
  const { arena } = createArena({ threads: 1, rpcs: 1, pairs: 1 }, true);
  applyConfig(arena, { config: resolveConfig({}, 1), version: 1 }, 1, 0);
  return readSettings(arena);
}

const DEFAULTS = defaults();

/** Settings of which every field tells the version. */
function settings(version: number): Settings {
  let field = 0;
  const told = (value: unknown): unknown => {
    field += 1;
    if (typeof value === 'number') return version * 1000 + field;
    if (typeof value === 'boolean') return ((version >> (field % 3)) & 1) !== 0;
    if (Array.isArray(value)) return value.filter((_, i) => ((version >> i) & 1) !== 0);
    return Object.fromEntries(
      Object.entries(value as object).map(([name, inner]) => [name, told(inner)]),
    );
  };
  return { ...(told(DEFAULTS) as Settings), version };
}

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
      for (let heldAt = 0; heldAt < 20; heldAt++) {
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
