import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PUT_LIMITS } from '../../src/actors/kv/put-limits.js';
import { DEFAULT_TABLET_CONFIG } from '../../src/actors/kv/tablet-config.js';
import {
  resolveWriterConfig,
  WRITER_OPTIONS,
  WRITER_SECTIONS,
  type WriterOptions,
} from '../../src/actors/kv/writer/writer-config.js';
import { KV_SERVER_USAGE } from '../../src/adapters/kv-server-arguments.js';
import { openRocksDbEngine } from '../../src/adapters/rocksdb.js';
import {
  KV_STORE_OPTIONS,
  type KvStoreOptions,
  resolveKvOptions,
} from '../../src/workers/kv/kv-options.js';

const text = readFileSync(new URL('../../docs/reference/kv-options.md', import.meta.url), 'utf8');

/** Rows of a section's table as [name, default, rule]. */
function rows(title: string, name: RegExp): readonly (readonly [string, string, string])[] {
  const section = text.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \|(.*)\|$/gm)]
    .filter(([, first = '']) => name.test(first))
    .map(([, first = '', rest = '']) => {
      const cells = rest.split('|').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1'));
      return [first, cells[0] ?? '', cells[1] ?? ''] as const;
    });
}

function nested(path: string, value: unknown): Record<string, unknown> {
  const [outer = '', inner] = path.split('.');
  return { [outer]: inner === undefined ? value : { [inner]: value } };
}

const factory = { module: 'none', exportName: 'none' };
const shown = (value: unknown): string =>
  typeof value === 'string' ? `'${value}'` : String(value);

describe('docs/reference/kv-options.md', () => {
  describe('the writer', () => {
    const all = rows('The writer', /./).slice(2);
    const config = resolveWriterConfig({}) as unknown as Record<string, unknown>;

    it('has a line for every option, and no other', () => {
      const sections: Readonly<Record<string, readonly string[]>> = WRITER_SECTIONS;
      const options = WRITER_OPTIONS.flatMap(
        (one) => sections[one]?.map((inner) => `${one}.${inner}`) ?? [one],
      );
      expect(all.map(([name]) => name).sort()).toEqual([...options].sort());
    });

    it.each(all)('%s is %s, and %s', (name, fallback, rule) => {
      const [outer = '', inner] = name.split('.');
      const owner = outer === 'limits' ? (config['limits'] as Record<string, unknown>) : config;
      const value = owner[inner ?? outer];
      expect(typeof value === 'function' ? value.name : shown(value)).toBe(fallback);
      expect(() => resolveWriterConfig(nested(name, Number.NaN) as WriterOptions)).toThrow(
        `${name} must be ${rule}, got NaN`,
      );
    });
  });

  describe('the store', () => {
    const all = rows('The store', /./);
    const config = resolveKvOptions({ dir: 'd' }, factory) as unknown as Record<string, unknown>;

    it('has a line for every option, and no other', () => {
      const own = [...KV_STORE_OPTIONS].flatMap((one) => {
        if (one === 'tablet')
          return Object.keys(DEFAULT_TABLET_CONFIG).map((inner) => `tablet.${inner}`);
        if (one === 'limits')
          return Object.keys(DEFAULT_PUT_LIMITS).map((inner) => `limits.${inner}`);
        return [one];
      });
      const names = all.map(([name]) => name).filter((name) => !name.startsWith('rocksdb.'));
      expect(names.sort()).toEqual([...own, 'engine'].sort());
    });

    it.each(all.filter(([, , rule]) => rule.startsWith('an integer')))(
      '%s is %s, and %s',
      async (name, fallback, rule) => {
        const [outer = '', inner] = name.split('.');
        if (outer === 'rocksdb') {
          const engine = openRocksDbEngine({ dir: 'd', [inner as string]: Number.NaN });
          await expect(engine).rejects.toThrow(`${inner} must be ${rule}, got NaN`);
          return;
        }
        const owner = inner === undefined ? config : (config[outer] as Record<string, unknown>);
        expect(String(owner[inner ?? outer])).toBe(fallback);
        const given = { dir: 'd', ...nested(name, Number.NaN) } as unknown as KvStoreOptions;
        expect(() => resolveKvOptions(given, factory)).toThrow(`must be ${rule}, got NaN`);
      },
    );
  });

  it('has a line for every argument of the server with its default, and no other', () => {
    const usage = [...KV_SERVER_USAGE.matchAll(/^ {2}(--[\w-]+).*?(?:; (\d+))?$/gm)];
    const documented = rows('The server', /^--/).map(([name, fallback]) => [
      name,
      /^\d+$/.test(fallback) ? fallback : undefined,
    ]);
    expect(documented).toEqual(usage.map(([, name, fallback]) => [name, fallback]));
  });
});
