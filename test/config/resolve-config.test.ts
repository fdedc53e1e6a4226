import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/shared/errors.js';
import { OPTIONS, RPC_OPTIONS } from '../../src/workers/config/option-table.js';
import type { RuntimeOptions } from '../../src/workers/config/options.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';

const CORES = 4;
const resolve = (options: unknown) => resolveConfig(options as RuntimeOptions, CORES);

function refusal(options: unknown): ConfigError {
  try {
    resolve(options);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

function nest(path: string, value: unknown): object {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;
}

describe('resolveConfig', () => {
  it('gives every option its documented default', () => {
    expect(resolve({})).toEqual({
      backendId: null,
      preset: null,
      configFile: null,
      host: { enabled: true, dryRun: false, qpsPerCore: 100, rpcs: {} },
      tables: {
        enabled: false,
        dryRun: false,
        windowMs: 3000,
        upgradeIntervalMs: 3000,
        downgradeIntervalMs: 3000,
        topK: 2,
        ratio: 0.75,
        floorQps: 1,
        rpcs: [],
      },
      waiting: { maxWaitMs: 10_000, maxWaiters: 10_000 },
      retry: {
        maxAttempts: 1,
        baseDelayMs: 50,
        maxDelayMs: 2000,
        maxRetryAfterMs: 10_000,
        on: ['busy', 'failure', 'refused'],
        deadlineMs: 0,
        attemptTimeoutMs: 0,
        budgetRatio: 0.2,
        budgetPerSecond: 1,
        budgetBurst: 10,
      },
      peers: { connectTimeoutMs: 200, connectRetries: 0 },
      breaker: {
        enabled: true,
        failureThreshold: 3,
        cooldownMs: 30_000,
        probeTimeoutMs: 10_000,
        maxAddresses: 10_000,
        idleMs: 60_000,
        cooldownFactor: 1,
        maxCooldownMs: 300_000,
        jitter: 0,
        probesToClose: 1,
        failureRate: 0,
        windowMs: 10_000,
        minimumCalls: 20,
      },
      pressure: { maxThrottleMs: 3000 },
      capacity: { threads: 64, rpcs: 64, pairs: 16_384 },
    });
  });

  it('knows the 21 RPC types of the preset, five of them load-related', () => {
    const config = resolve({ preset: 'dorisMetaService' });
    expect(Object.keys(config.host.rpcs)).toHaveLength(21);
    expect(config.tables.rpcs).toHaveLength(5);
    for (const rpc of config.tables.rpcs) expect(config.host.rpcs).toHaveProperty(rpc);
  });

  it('lets the caller name the load-related ones in spite of the preset', () => {
    const config = resolve({ preset: 'dorisMetaService', tables: { rpcs: ['get_rowset'] } });
    expect(config.tables.rpcs).toEqual(['get_rowset']);
  });

  it('knows what host.rpcs and tables.rpcs name, host.rpcs first', () => {
    const config = resolve({ tables: { rpcs: ['write', 'read'] }, host: { rpcs: { read: {} } } });
    expect(Object.entries(config.host.rpcs)).toEqual([
      ['read', { qpsPerCore: -1, burst: null, clock: 'precise' }],
      ['write', { qpsPerCore: -1, burst: null, clock: 'precise' }],
    ]);
  });

  it('takes a key given as undefined for not given', () => {
    expect(resolve({ backendId: undefined, tables: { ratio: undefined } })).toEqual(resolve({}));
  });

  it('keeps a backend id as a number where that is exact', () => {
    expect(resolve({ backendId: 10001n }).backendId).toBe(10001);
    expect(resolve({ backendId: 2n ** 62n }).backendId).toBe(2n ** 62n);
    expect(refusal({ backendId: 2n ** 63n }).field).toBe('backendId');
  });

  it('freezes the result to the last level and shares nothing with the caller', () => {
    const options = { host: { rpcs: { read: { burst: 5 } } }, tables: { rpcs: ['read'] } };
    const given = structuredClone(options);
    const config = resolve(options);
    expect(options).toEqual(given);
    for (const part of [config, config.host, config.host.rpcs, config.host.rpcs['read']]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(Object.isFrozen(config.tables.rpcs)).toBe(true);
    options.host.rpcs.read.burst = 6;
    options.tables.rpcs.push('x');
    expect(config.host.rpcs['read']?.burst).toBe(5);
    expect(config.tables.rpcs).toEqual(['read']);
  });

  it('accepts a frozen object and one without a prototype', () => {
    const options = Object.freeze(Object.assign(Object.create(null), { backendId: 1 }));
    expect(resolve(options).backendId).toBe(1);
  });

  it('survives a structured clone unchanged', () => {
    const config = resolve({ preset: 'dorisMetaService', backendId: 2n ** 60n });
    expect(structuredClone(config)).toEqual(config);
  });
});

describe('every number', () => {
  const NUMBERS = OPTIONS.filter((spec) => spec.kind === 'number');
  const POISON = [
    Number.NaN,
    Infinity,
    -Infinity,
    -0,
    -2,
    '5',
    null,
    Number('1e309'),
    [],
    {},
    true,
    '',
    2 ** 53 * 8,
  ];
  const fields = [
    ...NUMBERS.map((spec) => ({ path: spec.path, name: spec.path, rule: spec.rule })),
    ...NUMBERS.flatMap(({ seed, rule }) =>
      seed === undefined ? [] : [{ path: seed.name, name: seed.name, rule: seed.rule ?? rule }],
    ),
    ...RPC_OPTIONS.filter((spec) => spec.kind === 'number').map(({ path, rule }) => {
      const name = `host.rpcs.read.${path}`;
      return { path: name, name, rule };
    }),
    {
      path: 'ms_rpc_qps_read',
      name: 'ms_rpc_qps_read',
      rule: RPC_OPTIONS[0]?.rule ?? '',
    },
  ];
  it.each(fields)('$name refuses what is no number of its range', ({ path, name, rule }) => {
    for (const value of POISON) {
      // A name of Fluss has dots of its own.
      const isWhole = OPTIONS.some(({ seed }) => seed?.name === path);
      const error = refusal(isWhole ? { [path]: value } : nest(path, value));
      expect(error.code).toBe('ERR_SPILLWAY_CONFIG');
      expect(error.field).toBe(name);
      expect(error.message.startsWith(`${name} `)).toBe(true);
      if (typeof value !== 'number' || value < 2 ** 50) expect(error.rule).toBe(rule);
      if (typeof value !== 'object') expect(error.value).toBe(value);
    }
  });

  it('says field, rule and what came', () => {
    expect(refusal({ tables: { ratio: Number.NaN } }).message).toBe(
      'tables.ratio must be > 0 and < 1, got NaN',
    );
    expect(refusal({ host: { rpcs: { read: { burst: 1.5 } } } }).message).toBe(
      'host.rpcs.read.burst must be an integer >= 1, got 1.5',
    );
    expect(refusal({ host: { qpsPerCore: '5' } }).message).toBe(
      "host.qpsPerCore must be > 0, got '5'",
    );
  });

  it.each([
    ['host.qpsPerCore', 0],
    ['tables.ratio', 1],
    ['tables.ratio', 0],
    ['tables.topK', 1.5],
    ['tables.windowMs', 150],
    ['waiting.maxWaiters', 0],
    ['capacity.threads', 1025],
    ['host.rpcs.read.burst', 2 ** 53],
    ['host.rpcs.read.burst', 1e308],
  ])('%s refuses %s', (path, value) => {
    expect(refusal(nest(path, value)).field).toBe(path);
  });
});

describe('shapes', () => {
  it.each([
    [{ nope: 1 }, 'nope'],
    [{ host: { enable: true } }, 'host.enable'],
    [{ host: { rpcs: { read: { qps: 5 } } } }, 'host.rpcs.read.qps'],
    [{ host: { rpcs: { read: null } } }, 'host.rpcs.read'],
    [{ host: { rpcs: [] } }, 'host.rpcs'],
    [{ host: null }, 'host'],
    [{ host: null, ms_rpc_qps_default: 5 }, 'host'],
    [{ tables: { enabled: 'true' } }, 'tables.enabled'],
    [{ enable_ms_backpressure_handling: 1 }, 'enable_ms_backpressure_handling'],
    [{ preset: 'doris' }, 'preset'],
    [{ configFile: '' }, 'configFile'],
    [{ host: { rpcs: { read: { clock: 'fast' } } } }, 'host.rpcs.read.clock'],
    [{ tables: { rpcs: 'read' } }, 'tables.rpcs'],
    [{ tables: { rpcs: ['read', 'read'] } }, 'tables.rpcs'],
    [{ tables: { rpcs: ['read', 5] } }, 'tables.rpcs[1]'],
    [{ host: { rpcs: { 'a b': {} } } }, 'host.rpcs'],
    [{ host: { rpcs: { [`${'x'.repeat(65)}`]: {} } } }, 'host.rpcs'],
    [{ host: { rpcs: JSON.parse('{"__proto__": {}}') } }, 'host.rpcs'],
    [JSON.parse('{"__proto__": {}}'), '__proto__'],
    [{ host: new Map() }, 'host'],
    [{ tables: { rpcs: new Array(5000) } }, 'tables.rpcs'],
    [{ breaker: { treshold: 3 } }, 'breaker.treshold'],
    [undefined, 'options'],
    [[], 'options'],
    [5, 'options'],
  ])('%j is refused at %s', (options, field) => {
    expect(refusal(options).field).toBe(field);
  });

  it('refuses a cycle and a getter that throws', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['host'] = cyclic;
    expect(refusal(cyclic)).toBeInstanceOf(ConfigError);
    const trap = {
      get host() {
        throw new Error('no');
      },
    };
    expect(refusal(trap).message).toContain('host must be readable');
  });

  it('knows an RPC type by a name that objects have anyway', () => {
    const config = resolve({ host: { rpcs: { constructor: { burst: 3 }, toString: {} } } });
    expect(config.host.rpcs['constructor']?.burst).toBe(3);
    expect(config.host.rpcs['valueOf']).toBeUndefined();
  });

  it('refuses more RPC types than the arena has places for', () => {
    const error = refusal({ preset: 'dorisMetaService', capacity: { rpcs: 20 } });
    expect(error.field).toBe('host.rpcs');
    expect(error.value).toBe(21);
  });
});

describe('both spellings', () => {
  it('reads every option as Doris spells it', () => {
    const config = resolve({
      enable_ms_rpc_host_level_rate_limit: false,
      ms_rpc_qps_default: 50,
      ms_rpc_qps_commit_rowset: 0,
      ms_rpc_qps_get_rowset: -1,
      enable_ms_backpressure_handling: true,
      ms_rpc_table_qps_window_sec: 1.1,
      ms_backpressure_upgrade_interval_ms: 10,
      ms_backpressure_upgrade_top_k: 3,
      ms_backpressure_throttle_ratio: 0.5,
      ms_rpc_table_qps_limit_floor: 2,
      ms_backpressure_downgrade_interval_ms: 20,
    });
    expect(config.host).toMatchObject({ enabled: false, qpsPerCore: 50 });
    expect(config.host.rpcs['commit_rowset']?.qpsPerCore).toBe(0);
    expect(config.host.rpcs['get_rowset']?.qpsPerCore).toBe(-1);
    expect(config.tables).toMatchObject({
      enabled: true,
      windowMs: 1100,
      upgradeIntervalMs: 10,
      topK: 3,
      ratio: 0.5,
      floorQps: 2,
      downgradeIntervalMs: 20,
    });
  });

  it('mixes with the nested one', () => {
    const config = resolve({ ms_rpc_qps_read: 7, host: { rpcs: { read: { burst: 9 } } } });
    expect(config.host.rpcs['read']).toEqual({ qpsPerCore: 7, burst: 9, clock: 'precise' });
  });

  it('may be given together when they agree', () => {
    const options = { ms_rpc_table_qps_window_sec: 2, tables: { windowMs: 2000 } };
    expect(resolve(options).tables.windowMs).toBe(2000);
  });

  it('is refused when they do not', () => {
    const error = refusal({ ms_rpc_table_qps_window_sec: 2, tables: { windowMs: 3000 } });
    expect(error.message).toBe(
      'ms_rpc_table_qps_window_sec must agree with tables.windowMs, which is 3000, got 2',
    );
    expect(refusal({ ms_rpc_qps_a: 1, host: { rpcs: { a: { qpsPerCore: 2 } } } }).field).toBe(
      'ms_rpc_qps_a',
    );
  });

  it('names the spelling that was used, also for what only the whole shows', () => {
    expect(refusal({ ms_rpc_qps_default: 1e7 }).message).toBe(
      'ms_rpc_qps_default times 4 cores must be at most 10000000 calls per second, got 10000000',
    );
  });
});
