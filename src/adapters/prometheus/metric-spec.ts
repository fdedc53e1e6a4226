/** What a metric is, and how the usual ones are read from a snapshot. */
import type { HistogramSnapshot, RpcSnapshot, RuntimeSnapshot } from '../../workers/snapshot.js';
import type { ShownTables } from './shown-tables.js';
import { cumulativeBuckets } from './wait-buckets.js';

/** One line of a scrape. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Ending of the name, for the parts of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/** What does not change while a runtime lives. */
export interface ProcessFacts {
  readonly version: string;
  readonly kernel: string;
  readonly node: string;
  /** undefined: none was given. */
  readonly backendId: string | undefined;
}

/** What all metrics of one scrape are read from. */
export interface Scrape {
  readonly snapshot: RuntimeSnapshot;
  readonly tables: ShownTables;
  readonly facts: ProcessFacts;
  /** When the runtime was started, Unix time in s. */
  readonly startedAt: number;
}

export interface MetricSpec {
  /** Without the prefix. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** But for the `le` of a histogram. */
  readonly labels: readonly string[];
  /** Doris' name of it, as far as there is one; `*` stands for an RPC type. */
  readonly seed?: string;
  /** What prom-client makes of the values of several processes where it puts a cluster together. Default: their sum. */
  readonly together?: 'min' | 'max' | 'first';
  read(scrape: Scrape): readonly Sample[];
}

export type About = Pick<MetricSpec, 'name' | 'help' | 'seed' | 'together'>;

/** A metric of one number. */
export function single(
  type: 'counter' | 'gauge',
  about: About,
  read: (snapshot: RuntimeSnapshot) => number,
): MetricSpec {
  return { ...about, type, labels: [], read: (s) => [{ labels: {}, value: read(s.snapshot) }] };
}

/** A metric of one number for each RPC type. */
export function perRpc(
  type: 'counter' | 'gauge',
  about: About,
  read: (rpc: RpcSnapshot) => number,
): MetricSpec {
  const samples = ({ snapshot }: Scrape): Sample[] =>
    snapshot.rpcs.map((rpc) => ({ labels: { rpc: rpc.rpc }, value: read(rpc) }));
  return { ...about, type, labels: ['rpc'], read: samples };
}

/** A histogram of waits for each RPC type, in s. */
export function waits(about: About, read: (rpc: RpcSnapshot) => HistogramSnapshot): MetricSpec {
  const samples = ({ snapshot }: Scrape): Sample[] =>
    snapshot.rpcs.flatMap((rpc) => histogramSamples({ rpc: rpc.rpc }, read(rpc)));
  return { ...about, type: 'histogram', labels: ['rpc'], read: samples };
}

/** The lines of one histogram. */
export function histogramSamples(
  labels: Readonly<Record<string, string>>,
  { buckets, count, sumNs }: HistogramSnapshot,
): Sample[] {
  const lines: Sample[] = cumulativeBuckets(buckets, count).map(({ le, count: value }) => ({
    labels: { ...labels, le },
    value,
    suffix: '_bucket',
  }));
  lines.push({ labels, value: sumNs / 1e9, suffix: '_sum' });
  lines.push({ labels, value: count, suffix: '_count' });
  return lines;
}
