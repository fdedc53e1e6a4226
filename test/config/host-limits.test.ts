import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/shared/errors.js';
import { hostLimits } from '../../src/workers/config/host-limits.js';
import type { RpcOptions } from '../../src/workers/config/options.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';

function limitOf(
  read: RpcOptions,
  cores = 4,
  host: { enabled?: boolean; qpsPerCore?: number } = {},
) {
  return hostLimits(resolveConfig({ host: { ...host, rpcs: { read } } }, cores), cores)[0];
}

describe('hostLimits', () => {
  it('multiplies by the cores, with one second of it as the burst', () => {
    expect(limitOf({})).toEqual({ rpc: 'read', qps: 400, burst: 400, clock: 'precise' });
    expect(limitOf({ qpsPerCore: 2.5, clock: 'coarse' })).toEqual({
      rpc: 'read',
      qps: 10,
      burst: 10,
      clock: 'coarse',
    });
  });

  it('rounds the burst up, to at least one permit, but not for an error of the last digit', () => {
    expect(limitOf({ qpsPerCore: 0.3 }, 4)?.burst).toBe(2);
    expect(limitOf({ qpsPerCore: 0.01 }, 4)?.burst).toBe(1);
    expect(limitOf({ qpsPerCore: 4.35 }, 100)?.burst).toBe(435);
  });

  it('takes 0 for no limit', () => {
    expect(limitOf({ qpsPerCore: 0 })).toEqual({ rpc: 'read', qps: 0, burst: 1, clock: 'precise' });
  });

  it('limits nothing when the switch is off, but keeps the burst', () => {
    expect(limitOf({ burst: 7 }, 4, { enabled: false })).toMatchObject({ qps: 0, burst: 7 });
  });

  it('keeps the order of the known RPC types', () => {
    const config = resolveConfig({ preset: 'dorisMetaService', host: { rpcs: { own: {} } } }, 1);
    expect(hostLimits(config, 1).map(({ rpc }) => rpc)).toEqual(Object.keys(config.host.rpcs));
  });

  it.each([
    [{ qpsPerCore: 2_500_000.1 }, 'host.rpcs.read.qpsPerCore'],
    [{ qpsPerCore: 1e300 }, 'host.rpcs.read.qpsPerCore'],
    [{ qpsPerCore: 1e-8 }, 'host.rpcs.read.qpsPerCore'],
    [{ qpsPerCore: Number.MIN_VALUE }, 'host.rpcs.read.qpsPerCore'],
    [{ qpsPerCore: 0.25, burst: 90 * 86_400 + 1 }, 'host.rpcs.read.burst'],
    [{ burst: Number.MAX_SAFE_INTEGER }, 'host.rpcs.read.burst'],
  ])('refuses %j, whatever the switch says', (read, field) => {
    for (const enabled of [true, false]) {
      expect(() => limitOf(read, 4, { enabled })).toThrow(
        expect.objectContaining({ code: 'ERR_SPILLWAY_CONFIG', field }),
      );
    }
  });

  it('accepts the bounds', () => {
    expect(limitOf({ qpsPerCore: 2_500_000 })?.qps).toBe(1e7);
    expect(limitOf({ qpsPerCore: 0.25, burst: 90 * 86_400 })?.burst).toBe(7_776_000);
  });

  it('names the default when that is what is impossible, with no RPC type known, too', () => {
    expect(() => resolveConfig({ host: { qpsPerCore: 1e8 } }, 1)).toThrow(ConfigError);
    expect(() => limitOf({}, 200, { qpsPerCore: 1e5 })).toThrow(
      /^host\.qpsPerCore times 200 cores/,
    );
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity])('does not work with %s cores', (cores) => {
    expect(() => resolveConfig({}, cores)).toThrow(RangeError);
  });
});
