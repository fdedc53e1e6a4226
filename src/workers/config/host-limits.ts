import type { ConfigError } from '../../shared/errors.js';
import { configProblem } from './config-problem.js';
import type { ClockKind } from './options.js';
import type { ResolvedConfig } from './resolved-config.js';

/** What the host bucket of one RPC type is set to, for the whole process. */
export interface HostLimit {
  readonly rpc: string;
  /** Calls per second; 0: no limit. */
  readonly qps: number;
  /** Permits of a full bucket, an integer >= 1. */
  readonly burst: number;
  readonly clock: ClockKind;
}

/** Builds the error about one option; the default words it as if the option was given in code. */
export type Problem = (keys: readonly string[], rule: string, value: unknown) => ConfigError;

/** Per process and second: the emission interval is 100 ns, ten times the cost of a decision. */
const MAX_QPS = 10_000_000;
/** A bucket must refill in 90 days, or its time word could overflow (it holds 208 days). */
const MAX_FILL_SECONDS: number = 90 * 86_400;

/**
 * The process-wide limits of all known RPC types, in the order of `host.rpcs`. `cores` is `os.availableParallelism()`.
 * With `host.enabled` false all are 0, but are checked all the same, so that switching on cannot fail.
 */
export function hostLimits(
  config: ResolvedConfig,
  cores: number,
  problem: Problem = (keys, rule, value) => configProblem(keys.join('.'), rule, value),
): HostLimit[] {
  if (!Number.isSafeInteger(cores) || cores < 1) {
    throw new RangeError(`cores must be an integer >= 1, got ${cores}`);
  }
  const { enabled, qpsPerCore, rpcs } = config.host;
  // Also with no RPC type at all the default must be a possible one.
  checkQps(['host', 'qpsPerCore'], qpsPerCore, cores, problem);
  return Object.keys(rpcs).map((rpc) => {
    const override = rpcs[rpc]!;
    const own = override.qpsPerCore !== -1;
    const keys = own ? ['host', 'rpcs', rpc, 'qpsPerCore'] : ['host', 'qpsPerCore'];
    const qps = checkQps(keys, own ? override.qpsPerCore : qpsPerCore, cores, problem);
    const burst = override.burst ?? defaultBurst(qps);
    if (qps > 0 && burst > qps * MAX_FILL_SECONDS) {
      const rule = `must be at most what ${qps} calls per second refill in 90 days`;
      throw problem(['host', 'rpcs', rpc, 'burst'], rule, burst);
    }
    return { rpc, qps: enabled ? qps : 0, burst, clock: override.clock };
  });
}

function checkQps(
  keys: readonly string[],
  perCore: number,
  cores: number,
  problem: Problem,
): number {
  const qps = perCore * cores;
  if (perCore === 0) return 0;
  if (qps > MAX_QPS) {
    throw problem(
      keys,
      `times ${cores} cores must be at most ${MAX_QPS} calls per second`,
      perCore,
    );
  }
  if (qps * MAX_FILL_SECONDS < 1) {
    throw problem(keys, `times ${cores} cores must be at least one call in 90 days`, perCore);
  }
  return qps;
}

/** One second of the rate, at least one permit; 0.1 x 3 is not more than 0.3. */
function defaultBurst(qps: number): number {
  return Math.max(1, Math.ceil(Number(qps.toPrecision(12))));
}
