import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/shared/errors.js';
import { applyPatch } from '../../src/workers/config/apply-patch.js';
import { parseConfig } from '../../src/workers/config/config-file.js';
import { OPTIONS, RPC_OPTIONS } from '../../src/workers/config/option-table.js';
import type { ConfigPatch, RuntimeOptions } from '../../src/workers/config/options.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';

const CORES = 2;
const NAMES = [
  ...OPTIONS.flatMap(({ path, seed }) => [...path.split('.'), ...(seed ? [seed.name] : [])]),
  ...RPC_OPTIONS.map(({ path }) => path),
  'rpcs',
  'read',
  '__proto__',
  'constructor',
  'ms_rpc_qps_read',
  'ms_rpc_qps_',
];
const leaf = fc.oneof(
  fc.constantFrom<unknown>(true, false, null, undefined, Number.NaN, -0, '5', 'read', 5n, -1, 0),
  fc.integer({ min: -2, max: 20_000 }),
  fc.double(),
  fc.string(),
  fc.constantFrom<unknown>(Symbol('s'), () => 1, new Date(0), new Map(), Object.create(null)),
  fc.array(fc.constantFrom<unknown>('read', 'write', 5, null), { maxLength: 3 }),
);
const { garbage } = fc.letrec<{ garbage: unknown }>((tie) => ({
  garbage: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.dictionary(fc.oneof(fc.constantFrom(...NAMES), fc.string()), tie('garbage'), { maxKeys: 4 }),
  ),
}));
/** Mostly well-formed, so that some resolve. */
const plausible = fc.record(
  {
    backendId: leaf,
    ms_rpc_qps_default: leaf,
    ms_rpc_qps_read: leaf,
    host: fc.oneof(
      garbage,
      fc.record(
        {
          qpsPerCore: fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
          rpcs: fc.dictionary(
            fc.constantFrom('read', 'write', 'constructor'),
            fc.record({ burst: leaf }, { requiredKeys: [] }),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
    tables: fc.oneof(
      garbage,
      fc.record({ ratio: leaf, topK: leaf, windowMs: leaf, rpcs: leaf }, { requiredKeys: [] }),
    ),
  },
  { requiredKeys: [] },
);

describe('whatever is given', () => {
  it('resolves to a checked configuration or throws ConfigError, nothing else', () => {
    let resolved = 0;
    fc.assert(
      fc.property(fc.oneof(garbage, plausible), (options) => {
        try {
          const config = resolveConfig(options as RuntimeOptions, CORES);
          resolved += 1;
          expect(config.tables.ratio > 0 && config.tables.ratio < 1).toBe(true);
          expect(Number.isFinite(config.host.qpsPerCore)).toBe(true);
          expect(applyPatch(config, {}, CORES)).toEqual(config);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      { numRuns: 1000 },
    );
    expect(resolved).toBeGreaterThan(0);
  });

  it('as a patch gives a new object or ConfigError, and leaves the old one as it was', () => {
    const current = resolveConfig({ preset: 'dorisMetaService', backendId: 5 }, CORES);
    const copy = structuredClone(current);
    fc.assert(
      fc.property(fc.oneof(garbage, plausible), (patch) => {
        try {
          expect(applyPatch(current, patch as ConfigPatch, CORES)).not.toBe(current);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
        expect(current).toEqual(copy);
      }),
      { numRuns: 1000 },
    );
  });

  it('as the text of a file gives options or ConfigError that names the file', () => {
    const line = fc.tuple(
      fc.oneof(fc.constantFrom(...NAMES, 'tables.ratio'), fc.string()),
      fc.string(),
    );
    const text = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.json({ maxDepth: 12 }),
      garbage.map(
        (value) => JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}` : v)) ?? '',
      ),
      fc.array(line.map(([name, value]) => `${name} = ${value}`)).map((lines) => lines.join('\n')),
    );
    fc.assert(
      fc.property(text, fc.constantFrom('be.conf', 'be.json'), (content, path) => {
        try {
          parseConfig(content, path);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
          expect((error as ConfigError).message.startsWith(`${path}:`)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
