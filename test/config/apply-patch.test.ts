import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/shared/errors.js';
import { applyPatch } from '../../src/workers/config/apply-patch.js';
import type { ConfigPatch, RuntimeOptions } from '../../src/workers/config/options.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';

const CORES = 2;
const START: RuntimeOptions = {
  backendId: 7,
  preset: 'dorisMetaService',
  host: {
    rpcs: { commit_rowset: { qpsPerCore: 10, burst: 40, clock: 'coarse' }, own: { burst: 2 } },
  },
  tables: { ratio: 0.5 },
};
const start = () => resolveConfig(START, CORES);
const patched = (patch: unknown) => applyPatch(start(), patch as ConfigPatch, CORES);

describe('applyPatch', () => {
  it('changes what it names and keeps the rest', () => {
    const before = start();
    const after = applyPatch(before, { tables: { enabled: true }, host: { qpsPerCore: 5 } }, CORES);
    expect(after).toEqual({
      ...before,
      host: { ...before.host, qpsPerCore: 5 },
      tables: { ...before.tables, enabled: true },
    });
    expect(before).toEqual(start());
  });

  it('with nothing in it changes nothing, and gives a frozen object', () => {
    expect(patched({})).toEqual(start());
    expect(Object.isFrozen(patched({}).host.rpcs)).toBe(true);
  });

  it('merges an override field by field', () => {
    const after = patched({ host: { rpcs: { commit_rowset: { qpsPerCore: 20 } } } });
    expect(after.host.rpcs['commit_rowset']).toEqual({
      qpsPerCore: 20,
      burst: 40,
      clock: 'coarse',
    });
  });

  it('takes an override back with null; the RPC type stays known', () => {
    const after = patched({ host: { rpcs: { commit_rowset: null, own: null } } });
    const fallback = { qpsPerCore: -1, burst: null, clock: 'precise' };
    expect(after.host.rpcs['commit_rowset']).toEqual(fallback);
    expect(after.host.rpcs['own']).toEqual(fallback);
  });

  it('adds RPC types at the end', () => {
    const after = patched({ host: { rpcs: { newcomer: {} } }, tables: { rpcs: ['another'] } });
    const known = Object.keys(start().host.rpcs);
    expect(Object.keys(after.host.rpcs)).toEqual([...known, 'newcomer', 'another']);
    expect(after.tables.rpcs).toEqual(['another']);
  });

  it('reads Doris spellings', () => {
    const after = patched({ ms_backpressure_throttle_ratio: 0.9, ms_rpc_qps_own: 3 });
    expect(after.tables.ratio).toBe(0.9);
    expect(after.host.rpcs['own']).toEqual({ qpsPerCore: 3, burst: 2, clock: 'precise' });
  });

  it.each([
    ['backendId', { backendId: 8 }, { backendId: 7n }],
    ['configFile', { configFile: 'x.conf' }, {}],
    ['tables.windowMs', { tables: { windowMs: 4000 } }, { tables: { windowMs: 3000 } }],
    ['capacity.threads', { capacity: { threads: 1 } }, { capacity: { threads: 64 } }],
    ['capacity.rpcs', { capacity: { rpcs: 80 } }, { capacity: { rpcs: 64 } }],
    ['capacity.pairs', { capacity: { pairs: 1 } }, { capacity: { pairs: 16_384 } }],
    [
      'ms_rpc_table_qps_window_sec',
      { ms_rpc_table_qps_window_sec: 4 },
      { ms_rpc_table_qps_window_sec: 3 },
    ],
  ])('refuses to change %s, but not to name it', (field, change, same) => {
    expect(() => patched(change)).toThrow(expect.objectContaining({ field }));
    expect(() => patched(change)).toThrow(/cannot change at run time/);
    expect(patched(same)).toEqual(start());
  });

  it('refuses a preset that comes late', () => {
    const plain = resolveConfig({}, CORES);
    expect(() => applyPatch(plain, { preset: 'dorisMetaService' }, CORES)).toThrow(
      'preset cannot change at run time (preset is null)',
    );
  });

  it.each([
    { tables: { ratio: Number.NaN } },
    { tables: { enabled: true, ratio: 2 } },
    { host: { rpcs: { own: { burst: null } } } },
    { host: { qpsPerCore: null } },
    { host: { rpcs: { own: null } }, ms_rpc_qps_own: 5 },
    { host: { rpcs: { commit_rowset: { qpsPerCore: 1e7 } } } },
    { host: { rpcs: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`r${i}`, {}])) } },
    null,
    'x',
  ])('leaves everything as it was after %j', (patch) => {
    const before = start();
    expect(() => applyPatch(before, patch as ConfigPatch, CORES)).toThrow(ConfigError);
    expect(before).toEqual(start());
  });
});
