/** What `spillway top` shows, as numbers: made of two looks at the backends, which give the rates. */
import type { BackendReading } from '../backend-watch.js';
import type { ShownRuntime, ShownState } from '../shown-state.js';

export type Health = 'up' | 'stale' | 'unreachable';

export interface BackendLine {
  readonly url: string;
  readonly health: Health;
  /** Why it does not answer. */
  readonly error: string | undefined;
  readonly backendId: string | null;
  /** Of what is shown of it; undefined: it has never answered. */
  readonly ageMs: number | undefined;
  readonly level: number | undefined;
  /** How long the level has been what it is. */
  readonly levelForMs: number | undefined;
  readonly throttled: number;
  readonly threads: number | undefined;
  /** Its table limits are only rehearsed: nobody waits. */
  readonly rehearsed: boolean;
  readonly busyPerSecond: number | undefined;
}

export interface ThrottledLine {
  readonly backend: string;
  readonly rpc: string;
  readonly table: string;
  readonly qpsLimit: number;
  readonly currentQps: number;
  readonly qpsBefore: number | null;
  readonly forMs: number;
}

export interface HostLine {
  readonly backend: string;
  readonly rpc: string;
  readonly qpsLimit: number;
  /** Permits that were used, per second. */
  readonly usedPerSecond: number | undefined;
  readonly callsPerSecond: number | undefined;
  readonly busyPerSecond: number | undefined;
  readonly refusedPerSecond: number | undefined;
}

export interface CircuitLine {
  readonly backend: string;
  readonly address: string;
  readonly state: string;
  readonly failures: number;
  readonly probeInMs: number;
}

export interface PressureLine {
  readonly backend: string;
  readonly side: 'client' | 'store';
  readonly bucket: string;
  readonly pressure: number;
  readonly remainingMs: number | undefined;
  readonly l0Files: number | undefined;
  readonly pendingBytes: number | undefined;
}

export interface ChangeLine {
  readonly backend: string;
  readonly agoMs: number;
  readonly kind: string;
  readonly level: number;
  readonly reason: string;
  readonly pairs: number;
}

export interface TopModel {
  /** Wall clock of the look, ms. */
  readonly atMs: number;
  readonly backends: readonly BackendLine[];
  readonly throttled: readonly ThrottledLine[];
  readonly hosts: readonly HostLine[];
  readonly circuits: readonly CircuitLine[];
  readonly pressure: readonly PressureLine[];
  readonly changes: readonly ChangeLine[];
}

/** What is older is no longer shown: a limit may be long gone. */
const STALE_MS = 15_000;

export function topModel(
  readings: readonly BackendReading[],
  before: readonly BackendReading[],
  atMs: number,
): TopModel {
  const shown = readings.flatMap((reading) => {
    const { last, ageMs = Number.POSITIVE_INFINITY } = reading;
    if (last === undefined || ageMs > STALE_MS) return [];
    const backend = last.backendId ?? shortUrl(reading.url);
    return [{ backend, state: last, rates: ratesOf(last, lastOf(before, reading.url)) }];
  });
  return {
    atMs,
    backends: readings.map((reading) => backendLine(reading, lastOf(before, reading.url))),
    throttled: shown.flatMap(({ backend, state }) => throttledLines(backend, state)),
    hosts: shown.flatMap(({ backend, state, rates }) => hostLines(backend, state, rates)),
    circuits: shown.flatMap(({ backend, state }) => circuitLines(backend, state)),
    pressure: shown.flatMap(({ backend, state }) => pressureLines(backend, state)),
    changes: shown
      .flatMap(({ backend, state }) => changeLines(backend, state))
      .sort((a, b) => a.agoMs - b.agoMs),
  };
}

function lastOf(readings: readonly BackendReading[], url: string): ShownState | undefined {
  return readings.find((reading) => reading.url === url)?.last;
}

function shortUrl(url: string): string {
  return url.replace(/^https?:\/\//, '');
}

function backendLine(reading: BackendReading, before: ShownState | undefined): BackendLine {
  const { url, answer, last, ageMs } = reading;
  const up = answer.kind === 'up';
  const runtime = last?.runtime;
  const rates = last === undefined ? undefined : ratesOf(last, before);
  return {
    url,
    health: up ? 'up' : ageMs !== undefined && ageMs <= STALE_MS ? 'stale' : 'unreachable',
    error: up ? undefined : answer.error,
    backendId: last?.backendId ?? null,
    ageMs,
    level: runtime?.level,
    levelForMs: last === undefined ? undefined : levelForMs(last),
    throttled: last?.throttledTotal ?? 0,
    threads: runtime?.threads,
    rehearsed: runtime?.dryRun.tables ?? false,
    busyPerSecond: rates?.('busy'),
  };
}

/** Since the newest change; since the start when there was none. An upgrade that found nothing to slow is no level. */
function levelForMs({ atMs, history, runtime }: ShownState): number | undefined {
  if (runtime === null) return undefined;
  return atMs - (history.findLast(({ changed }) => changed > 0)?.atMs ?? 0);
}

type Total = 'calls' | 'busy' | 'spent' | 'refused';
type Rates = (total: Total, rpc?: string) => number | undefined;

/** Per second between two states of one runtime: of one RPC type, or of all. */
function ratesOf(state: ShownState, before: ShownState | undefined): Rates {
  const seconds = before === undefined ? 0 : (state.atMs - before.atMs) / 1000;
  if (before === undefined || before.runtimeId !== state.runtimeId || seconds <= 0) {
    return () => undefined;
  }
  return (total, rpc) =>
    Math.max(sumOf(state.runtime, total, rpc) - sumOf(before.runtime, total, rpc), 0) / seconds;
}

function sumOf(runtime: ShownRuntime | null, total: Total, rpc: string | undefined): number {
  return (runtime?.rpcs ?? []).reduce(
    (sum, one) => (rpc === undefined || one.rpc === rpc ? sum + one[total] : sum),
    0,
  );
}

function throttledLines(backend: string, state: ShownState): ThrottledLine[] {
  const known = new Map(state.throttled.map((pair) => [`${pair.rpc}\0${pair.table}`, pair]));
  return (state.runtime?.limits ?? []).map(({ rpc, table, qpsLimit, currentQps, sinceMs }) => ({
    backend,
    rpc,
    table,
    qpsLimit,
    currentQps,
    qpsBefore: known.get(`${rpc}\0${table}`)?.qpsBefore ?? null,
    forMs: state.atMs - sinceMs,
  }));
}

function hostLines(backend: string, state: ShownState, rates: Rates): HostLine[] {
  return (state.runtime?.rpcs ?? []).map(({ rpc, qpsLimit }) => ({
    backend,
    rpc,
    qpsLimit,
    usedPerSecond: rates('spent', rpc),
    callsPerSecond: rates('calls', rpc),
    busyPerSecond: rates('busy', rpc),
    refusedPerSecond: rates('refused', rpc),
  }));
}

function circuitLines(backend: string, state: ShownState): CircuitLine[] {
  return (state.runtime?.circuits ?? []).map((circuit) => ({
    backend,
    address: circuit.address,
    state: circuit.isolated ? 'isolated' : circuit.state.replace('_', '-'),
    failures: circuit.consecutiveFailures,
    probeInMs: circuit.retryAfterMs,
  }));
}

function pressureLines(backend: string, state: ShownState): PressureLine[] {
  const windows = (state.runtime?.pressure ?? []).map(
    ({ bucket, pressure, remainingMs }): PressureLine => ({
      backend,
      side: 'client',
      bucket,
      pressure,
      remainingMs,
      l0Files: undefined,
      pendingBytes: undefined,
    }),
  );
  const stores = state.stores.flatMap(({ tables }) =>
    tables.flatMap(({ table, buckets }) =>
      buckets.map(
        ({ bucket, pressure, l0Files, pendingBytes }): PressureLine => ({
          backend,
          side: 'store',
          bucket: `${table}/${bucket}`,
          pressure,
          remainingMs: undefined,
          l0Files,
          pendingBytes,
        }),
      ),
    ),
  );
  return [...windows, ...stores];
}

function changeLines(backend: string, { atMs, history }: ShownState): ChangeLine[] {
  return history.map(({ atMs: changedMs, kind, level, reason, changed }) => ({
    backend,
    agoMs: atMs - changedMs,
    kind,
    level,
    reason,
    pairs: changed,
  }));
}
