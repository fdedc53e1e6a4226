import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import { bucketWords } from '../../src/shared/limiter-words.js';
import { readRpcNames } from '../../src/shared/rpc-names.js';
import { readSettings } from '../../src/shared/settings.js';
import { applyConfig, needsCoarseClock } from '../../src/workers/apply-config.js';
import { applyPatch } from '../../src/workers/config/apply-patch.js';
import type { RuntimeOptions } from '../../src/workers/config/options.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';
import { RpcTable } from '../../src/workers/rpc-table.js';
import { bothKernels, bucketPlace } from '../shared/both-kernels.js';

const OPTIONS: RuntimeOptions = {
  host: { qpsPerCore: 10, rpcs: { read: {}, write: { qpsPerCore: 5, burst: 3, clock: 'coarse' } } },
  tables: { rpcs: ['write'] },
};

describe.each(bothKernels())('applyConfig on the $kind kernel', ({ fresh }) => {
  let arena: Arena;
  beforeEach(() => {
    arena = fresh();
  });

  const CORES = 2;
  const config = (options: RuntimeOptions = OPTIONS) => resolveConfig(options, CORES);
  const apply = (given = config(), version = 1, now = 0): void =>
    applyConfig(arena, { config: given, version }, CORES, now);
  const available = (rpcId: number, shadow = false, now = 0): number =>
    arena.kernel.available(arena.layout.bucket(rpcId, shadow), now);
  const qps = (rpcId: number, shadow = false): number =>
    bucketWords(arena, arena.layout.bucket(rpcId, shadow)).qps();
  /** All that threads obey but for the settings, whose block moves on with each change. */
  const words = (): unknown => [
    arena.u64.subarray(arena.layout.name(0) >>> 3, arena.layout.waits(0, 'host') >>> 3).slice(),
    readSettings(arena),
  ];

  it('publishes names, rates per process, bursts and marks', () => {
    apply();
    expect(readRpcNames(arena)).toEqual(['read', 'write']);
    expect([qps(0), qps(1)]).toEqual([20, 10]);
    expect([available(0), available(1)]).toEqual([20, 3]);
    const table = new RpcTable(arena);
    expect(table.all().map((rpc) => rpc.loadRelated())).toEqual([false, true]);
    expect(readSettings(arena)).toMatchObject({ version: 1, host: true, hostDryRun: false });
  });

  it('changes nothing when it is done again', () => {
    apply();
    arena.kernel.tryAcquire(arena.layout.bucket(0, false), bucketPlace(arena).stats, 0, 7);
    const before = words();
    apply(config(), 1, 5e9);
    apply(config(), 1, 6e9);
    expect(words()).toEqual(before);
  });

  it('finishes what a control thread that was killed has begun', () => {
    apply();
    const next = applyPatch(
      config(),
      {
        host: { rpcs: { read: { qpsPerCore: 50 }, late: { qpsPerCore: 1 } } },
        tables: { enabled: true },
      },
      CORES,
    );
    apply(next, 2, 1e9);
    const whole = words();
    for (let cut = 0; cut < 12; cut++) {
      arena.u64.fill(0n);
      apply();
      let left = cut;
      const { kernel } = arena;
      const mortal = {
        ...arena,
        kernel: {
          ...kernel,
          configure: (...terms: Parameters<typeof kernel.configure>) => {
            if (left-- === 0) throw new Error('killed');
            kernel.configure(...terms);
          },
        },
      };
      try {
        applyConfig(mortal, { config: next, version: 2 }, CORES, 1e9);
      } catch (error) {
        expect((error as Error).message).toBe('killed');
      }
      applyConfig(arena, { config: next, version: 2 }, CORES, 1e9);
      expect(words()).toEqual(whole);
    }
  });

  it('keeps what a bucket has left when its rate changes, and the other buckets as they are', () => {
    apply();
    const { stats } = bucketPlace(arena);
    arena.kernel.tryAcquire(arena.layout.bucket(0, false), stats, 0, 15);
    arena.kernel.tryAcquire(arena.layout.bucket(1, false), stats, 0, 1);
    const epoch = bucketWords(arena, arena.layout.bucket(1, false)).epoch();
    apply(
      applyPatch(config(), { host: { rpcs: { read: { qpsPerCore: 1000, burst: 500 } } } }, CORES),
      2,
    );
    expect([available(0), available(1)]).toEqual([5, 2]);
    expect(bucketWords(arena, arena.layout.bucket(1, false)).epoch()).toBe(epoch);
  });

  it('limits the shadow bucket instead in a dry run, and none when it is off', () => {
    apply(config({ ...OPTIONS, host: { ...OPTIONS.host, dryRun: true } }));
    expect([qps(0), qps(0, true)]).toEqual([0, 20]);
    apply(config({ ...OPTIONS, host: { ...OPTIONS.host, enabled: false } }), 2);
    expect([qps(0), qps(0, true)]).toEqual([0, 0]);
    apply(config(), 3);
    expect([qps(0), qps(0, true)]).toEqual([20, 0]);
  });

  it('limits no RPC type whose rate is 0', () => {
    apply(config({ host: { rpcs: { read: { qpsPerCore: 0 } } } }));
    expect(available(0)).toBeNaN();
  });

  it('says whether some limit wants the coarse clock', () => {
    expect(needsCoarseClock(config())).toBe(true);
    expect(needsCoarseClock(config({ host: { rpcs: { read: {} } } }))).toBe(false);
    expect(
      needsCoarseClock(config({ ...OPTIONS, host: { ...OPTIONS.host, enabled: false } })),
    ).toBe(false);
  });
});
