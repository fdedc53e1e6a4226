/**
 * Puts a configuration into force in the arena: names, marks, settings, buckets. One writer: the owner before the control
 * thread starts, then the control thread. Doing it again changes nothing, so a successor may finish what was cut short.
 */
import type { Arena } from '../shared/arena.js';
import { MARK } from '../shared/layout.js';
import { bucketWords } from '../shared/limiter-words.js';
import { intervalNs } from '../shared/quota.js';
import { markRpc, publishRpcNames } from '../shared/rpc-names.js';
import { writeSettings } from '../shared/settings.js';
import { type HostLimit, hostLimits } from './config/host-limits.js';
import type { ResolvedConfig } from './config/resolved-config.js';

export interface InForce {
  readonly config: ResolvedConfig;
  /** Counts changes from 1. */
  readonly version: number;
}

export function applyConfig(
  arena: Arena,
  { config, version }: InForce,
  cores: number,
  nowNs: number,
): void {
  const { host, tables, waiting, retry, peers, breaker, pressure } = config;
  const limits = hostLimits({ ...config, host: { ...host, enabled: true } }, cores);
  publishRpcNames(
    arena,
    limits.map(({ rpc }) => rpc),
  );
  const loadRelated = new Set(tables.rpcs);
  const bytes = new Uint8Array(arena.buffer);
  for (const [id, limit] of limits.entries()) {
    const coarse = limit.clock === 'coarse' ? MARK.COARSE : 0;
    markRpc(
      bytes,
      arena.layout.name(id),
      coarse | (loadRelated.has(limit.rpc) ? MARK.LOAD_RELATED : 0),
    );
    setBucket(arena, arena.layout.bucket(id, false), limit, host.enabled && !host.dryRun, nowNs);
    setBucket(arena, arena.layout.bucket(id, true), limit, host.dryRun, nowNs);
  }
  writeSettings(arena, {
    version,
    maxWaitMs: waiting.maxWaitMs,
    maxWaiters: waiting.maxWaiters,
    host: host.enabled,
    hostDryRun: host.dryRun,
    tables: tables.enabled,
    tablesDryRun: tables.dryRun,
    retry,
    peers,
    breaker,
    pressure,
  });
}

function setBucket(
  arena: Arena,
  bucket: number,
  limit: HostLimit,
  active: boolean,
  nowNs: number,
): void {
  const words = bucketWords(arena, bucket);
  const terms = words.terms(words.epoch());
  const interval = active && limit.qps > 0 ? intervalNs(limit.qps) : 0;
  const tau = interval * limit.burst;
  if (
    terms.intervalNs === interval &&
    terms.tauNs === tau &&
    words.qps() === (interval === 0 ? 0 : limit.qps)
  )
    return;
  arena.kernel.configure(bucket, nowNs, interval, tau, limit.qps, limit.burst, 0);
}

/** Whether some limit reads the coarse clock, so that it must tick. */
export function needsCoarseClock({ host }: ResolvedConfig): boolean {
  return host.enabled && Object.values(host.rpcs).some(({ clock }) => clock === 'coarse');
}
