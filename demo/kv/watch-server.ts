import type { KvScenario } from './kv-scenario.js';

/** How the server stood at a moment of the load. */
export interface ServerSample {
  readonly atMs: number;
  /** Most level-0 files of a bucket. */
  readonly l0Files: number;
  /** Accepted and not in the stores yet, all buckets. */
  readonly pendingBytes: number;
}

/** What the server's own metrics say. */
export interface ServerFigures {
  /** How long RocksDB held writers up since it was opened, for whatever reason. */
  readonly stallMs: number;
  /** 99 % of how late the event loop of the thread that serves RPCs was, since this was read last. */
  readonly loopP99Ms: number;
  readonly refusals: number;
}

interface TableState {
  readonly pendingBytes: number;
  readonly maxL0Files: number;
}

/** prom-client's loop monitor ticks at this interval, and counts it as delay. */
const loopTickMs = 10;

export async function sampleServer(
  httpUrl: string,
  { table }: KvScenario,
): Promise<Omit<ServerSample, 'atMs'>> {
  const response = await fetch(new URL('state', httpUrl));
  const state = (await response.json()) as {
    readonly stores: readonly { readonly tables: readonly (TableState & { table: string })[] }[];
  };
  const found = state.stores[0]?.tables.find((one) => one.table === table);
  if (found === undefined) throw new Error(`the server's state has no table ${table}`);
  return { l0Files: found.maxL0Files, pendingBytes: found.pendingBytes };
}

export async function readServerFigures(
  httpUrl: string,
  { table }: KvScenario,
): Promise<ServerFigures> {
  const text = await (await fetch(new URL('metrics', httpUrl))).text();
  const value = (name: string): number => {
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    if (line === undefined) throw new Error(`the server has no metric ${name}`);
    return Number(line.slice(name.length + 1));
  };
  const label = `{table="${table}"}`;
  return {
    stallMs: value(`spillway_kv_engine_stall_seconds_total${label}`) * 1000,
    loopP99Ms: Math.max(0, value('nodejs_eventloop_lag_p99_seconds') * 1000 - loopTickMs),
    refusals: value(`spillway_kv_backpressure_rejections_total${label}`),
  };
}
