import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/shared/errors.js';
import { DirectoryVersionError } from '../../../src/shared/kv-errors.js';
import { mergedTables, writeMarker } from '../../../src/workers/kv/kv-directory.js';
import { resolveKvOptions } from '../../../src/workers/kv/kv-options.js';
import { tempDirs } from '../../adapters/temp-dir.js';

const tempDir = tempDirs();
const factory = { module: 'data:,', exportName: 'open' };
const BAD = [Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1.5, '5', null];

describe('options of a key-value store', () => {
  it('are frozen, with defaults, and the given ones are left alone', () => {
    const given = Object.freeze({ dir: 'd', tables: Object.freeze({ t: 1 }) });
    const resolved = resolveKvOptions(given, factory);
    expect(Object.isFrozen(resolved)).toBe(true);
    expect(resolved).toMatchObject({ flushThreads: 10, engineThreads: 1, maxInFlight: 1024 });
    expect(resolved.tablet).toMatchObject({ l0SlowdownTrigger: 8, segmentRecords: 500 });
  });

  it.each(BAD)('refuse %s for flushThreads, a limit and a segment', (bad) => {
    const value = bad as number;
    expect(() => resolveKvOptions({ dir: 'd', flushThreads: value }, factory)).toThrow(ConfigError);
    expect(() => resolveKvOptions({ dir: 'd', limits: { maxKeyBytes: value } }, factory)).toThrow(
      'limits.maxKeyBytes must be an integer from 1 to 2147483647',
    );
    expect(() =>
      resolveKvOptions({ dir: 'd', tablet: { segmentRecords: value } }, factory),
    ).toThrow('segmentRecords must be an integer >= 1');
  });

  it('refuse what they do not know', () => {
    const unknown = { dir: 'd', flushThread: 1 } as unknown as { dir: string };
    expect(() => resolveKvOptions(unknown, factory)).toThrow('flushThread');
    expect(() => resolveKvOptions({ dir: '' }, factory)).toThrow('dir must be a path, got ');
  });

  it('warn of every event where nobody listens', async () => {
    const warned = once(process, 'warning');
    resolveKvOptions({ dir: 'd' }, factory).onEvent({
      kind: 'no-proactive-tier',
      l0SlowdownTrigger: 21,
      engineTrigger: 20,
    });
    const [warning] = await warned;
    expect(warning.name).toBe('SpillwayWarning');
    expect(warning.message).toContain("l0SlowdownTrigger 21 is not below the engine's 20");
  });

  it('a listener that throws harms nobody', () => {
    const { onEvent } = resolveKvOptions(
      {
        dir: 'd',
        onEvent: () => {
          throw new Error('listener');
        },
      },
      factory,
    );
    onEvent({ kind: 'no-proactive-tier', l0SlowdownTrigger: 20, engineTrigger: 20 });
  });
});

describe('the tables of a directory', () => {
  it('are remembered, may become more, and keep their buckets', () => {
    const dir = tempDir();
    expect(mergedTables(dir, { t: 2 })).toEqual({ t: 2 });
    writeMarker(dir, { t: 2 });
    expect(mergedTables(dir, { u: 1 })).toEqual({ t: 2, u: 1 });
    expect(() => mergedTables(dir, { t: 3 })).toThrow(
      'tables.t must be 2, as it was made with, got 3',
    );
  });

  it.each([
    [{ '../x': 1 }, 'tables must be names of'],
    [{ '': 1 }, 'tables must be names of'],
    [{ t: 0 }, 'tables.t must be an integer from 1 to 4096, got 0'],
    [{ t: 1.5 }, 'tables.t must be an integer from 1 to 4096, got 1.5'],
    [{}, 'tables must be at least one table'],
  ])('%j is refused', (tables, message) => {
    expect(() => mergedTables(tempDir(), tables)).toThrow(message);
  });

  it('of another version, of no marker or of a broken one are not touched', () => {
    const dir = tempDir();
    const marker = join(dir, 'spillway-kv.json');
    writeFileSync(marker, '{"format": 2, "tables": {}}');
    expect(() => mergedTables(dir, { t: 1 })).toThrow(DirectoryVersionError);
    writeFileSync(marker, 'not json');
    expect(() => mergedTables(dir, { t: 1 })).toThrow('cannot be read');
    const other = tempDir();
    mkdirSync(join(other, 'log'));
    expect(() => mergedTables(other, { t: 1 })).toThrow('has a log, but no spillway-kv.json');
  });
});
