import type { HistogramSnapshot, RpcSnapshot, RuntimeSnapshot } from '../workers/snapshot.js';
import { cumulativeBuckets } from './prometheus-buckets.js';
import { CIRCUIT_METRICS } from './prometheus-circuits.js';
import type { ShownLimits } from './prometheus-tables.js';

/** One line of a scrape. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Ending of the name, for the parts of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/** What all metrics of one scrape are read from. */
export interface Scrape {
  readonly snapshot: RuntimeSnapshot;
  readonly tables: ShownLimits;
}

export interface MetricSpec {
  /** Without the prefix. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Doris' name of it, as far as there is one; `*` stands for an RPC type. */
  readonly seed?: string;
  read(scrape: Scrape): readonly Sample[];
}

type About = Pick<MetricSpec, 'name' | 'help' | 'seed'>;

function single(
  type: 'counter' | 'gauge',
  about: About,
  read: (snapshot: RuntimeSnapshot) => number,
): MetricSpec {
  return { ...about, type, labels: [], read: (s) => [{ labels: {}, value: read(s.snapshot) }] };
}

function perRpc(
  type: 'counter' | 'gauge',
  about: About,
  read: (rpc: RpcSnapshot) => number,
): MetricSpec {
  const samples = ({ snapshot }: Scrape): Sample[] =>
    snapshot.rpcs.map((rpc) => ({ labels: { rpc: rpc.rpc }, value: read(rpc) }));
  return { ...about, type, labels: ['rpc'], read: samples };
}

function waits(about: About, read: (rpc: RpcSnapshot) => HistogramSnapshot): MetricSpec {
  const samples = ({ snapshot }: Scrape): Sample[] =>
    snapshot.rpcs.flatMap((rpc) => {
      const { count, sumNs, buckets } = read(rpc);
      const labels = { rpc: rpc.rpc };
      const lines: Sample[] = cumulativeBuckets(buckets, count).map(({ le, count: value }) => ({
        labels: { ...labels, le },
        value,
        suffix: '_bucket',
      }));
      lines.push({ labels, value: sumNs / 1e9, suffix: '_sum' });
      lines.push({ labels, value: count, suffix: '_count' });
      return lines;
    });
  return { ...about, type: 'histogram', labels: ['rpc'], read: samples };
}

function perTable(
  about: About,
  read: (limit: RuntimeSnapshot['limits'][number]) => number,
): MetricSpec {
  const samples = ({ tables }: Scrape): Sample[] =>
    tables.shown.map((limit) => ({
      labels: { rpc: limit.rpc, table: limit.table },
      value: read(limit),
    }));
  return { ...about, type: 'gauge', labels: ['rpc', 'table'], read: samples };
}

/** Of the throttled pairs that have no series of their own. */
function unshown(
  about: About,
  read: (limit: RuntimeSnapshot['limits'][number]) => number,
): MetricSpec {
  const samples = ({ snapshot, tables }: Scrape): Sample[] => {
    const sums = new Map(snapshot.rpcs.map(({ rpc }) => [rpc, 0]));
    for (const limit of tables.rest) {
      sums.set(limit.rpc, (sums.get(limit.rpc) ?? 0) + read(limit));
    }
    return [...sums].map(([rpc, value]) => ({ labels: { rpc }, value }));
  };
  return { ...about, type: 'gauge', labels: ['rpc'], read: samples };
}

/** Everything that a scrape shows. A new metric is one entry, and a line in docs/reference/metrics.md. */
export const METRICS: readonly MetricSpec[] = [
  perRpc(
    'counter',
    { name: 'calls_total', help: 'Attempts that were let through to the downstream.' },
    (r) => r.calls,
  ),
  perRpc(
    'counter',
    {
      name: 'busy_total',
      help: 'Attempts that the downstream answered with BUSY.',
      seed: 'ms_rpc_backpressure_ms_busy_count',
    },
    (r) => r.busy,
  ),
  {
    name: 'outcomes_total',
    type: 'counter',
    help: 'Attempts by what they came to.',
    labels: ['rpc', 'verdict'],
    read: ({ snapshot }) =>
      snapshot.rpcs.flatMap(({ rpc, busy, outcomes }) =>
        Object.entries({ ...outcomes, busy }).map(([verdict, value]) => ({
          labels: { rpc, verdict },
          value,
        })),
      ),
  },
  perRpc(
    'counter',
    { name: 'retries_total', help: 'Attempts beyond the first of their calls.' },
    (r) => r.retries,
  ),
  perRpc(
    'counter',
    { name: 'retries_denied_total', help: 'Retries that the retry budget did not allow.' },
    (r) => r.retriesDenied,
  ),
  perRpc(
    'counter',
    {
      name: 'attempt_timeouts_total',
      help: 'Attempts that were left behind at their time-out.',
    },
    (r) => r.timeouts,
  ),
  perRpc(
    'counter',
    { name: 'deadlines_exceeded_total', help: 'Calls that their deadline ended.' },
    (r) => r.deadlines,
  ),
  perRpc(
    'counter',
    {
      name: 'late_settlements_total',
      help: 'Attempts that settled after they had been left behind.',
    },
    (r) => r.late,
  ),
  perRpc(
    'counter',
    {
      name: 'classifier_faults_total',
      help: 'Classifiers that threw, or said what is no verdict.',
    },
    (r) => r.classifierFaults,
  ),
  perRpc(
    'counter',
    {
      name: 'refused_total',
      help: 'Calls that were refused here because the wait would have been too long, or the queue was full.',
    },
    (r) => r.refused,
  ),
  perRpc(
    'counter',
    { name: 'permits_granted_total', help: 'Permits that the host-level limits handed out.' },
    (r) => r.granted,
  ),
  perRpc(
    'counter',
    { name: 'permits_spent_total', help: 'Permits whose call was let through.' },
    (r) => r.spent,
  ),
  perRpc(
    'counter',
    { name: 'permits_returned_total', help: 'Permits that were given back in time.' },
    (r) => r.returned,
  ),
  perRpc(
    'counter',
    {
      name: 'permits_lost_total',
      help: 'Permits of calls that never went, whose time could not be given back.',
    },
    (r) => r.lost,
  ),
  waits(
    {
      name: 'host_wait_seconds',
      help: 'Waits for the host-level limit.',
      seed: 'host_level_ms_rpc_rate_limit_sleep_*',
    },
    (r) => r.hostWait,
  ),
  waits(
    {
      name: 'table_wait_seconds',
      help: 'Waits for the limit of a throttled table.',
      seed: 'ms_rpc_backpressure_throttle_wait_*',
    },
    (r) => r.tableWait,
  ),
  perRpc(
    'counter',
    {
      name: 'dry_run_wait_seconds_total',
      help: 'Waits that dry runs would have asked for, added up.',
    },
    (r) => r.dryRunWaitMs / 1e3,
  ),
  perRpc(
    'gauge',
    {
      name: 'host_qps_limit',
      help: 'Host-level limit of the whole process, calls per second; 0: none.',
    },
    (r) => r.qpsLimit,
  ),
  perRpc(
    'gauge',
    { name: 'host_burst', help: 'Permits of a full host-level bucket.' },
    (r) => r.burst,
  ),
  perRpc(
    'gauge',
    {
      name: 'throttled_tables',
      help: 'Tables that have a limit now.',
      seed: 'ms_rpc_backpressure_throttled_tables_*',
    },
    (r) => r.throttledTables,
  ),
  perTable(
    { name: 'table_qps_limit', help: 'Limit of a throttled table, calls per second.' },
    (l) => l.qpsLimit,
  ),
  perTable(
    { name: 'table_qps', help: 'Rate of a throttled table, calls per second.' },
    (l) => l.currentQps,
  ),
  unshown(
    {
      name: 'tables_not_shown',
      help: 'Throttled tables beyond the number that is shown one by one.',
    },
    () => 1,
  ),
  unshown(
    { name: 'tables_not_shown_qps_limit', help: 'Limits of the tables not shown, added up.' },
    (l) => l.qpsLimit,
  ),
  unshown(
    { name: 'tables_not_shown_qps', help: 'Rates of the tables not shown, added up.' },
    (l) => l.currentQps,
  ),
  single(
    'gauge',
    { name: 'throttle_level', help: 'Upgrades in force; 0: no table is throttled.' },
    (s) => s.level,
  ),
  single(
    'counter',
    {
      name: 'throttle_upgrades_total',
      help: 'Times that the hottest tables were slowed.',
      seed: 'ms_rpc_backpressure_upgrade_count',
    },
    (s) => s.throttle.upgrades,
  ),
  single(
    'counter',
    {
      name: 'throttle_downgrades_total',
      help: 'Times that a level was released.',
      seed: 'ms_rpc_backpressure_downgrade_count',
    },
    (s) => s.throttle.downgrades,
  ),
  single(
    'gauge',
    {
      name: 'throttle_upgrades_60s',
      help: 'Upgrades of the last 60 seconds.',
      seed: 'ms_rpc_backpressure_upgrade_60s',
    },
    (s) => s.throttle.upgrades60s,
  ),
  single(
    'gauge',
    {
      name: 'throttle_downgrades_60s',
      help: 'Downgrades of the last 60 seconds.',
      seed: 'ms_rpc_backpressure_downgrade_60s',
    },
    (s) => s.throttle.downgrades60s,
  ),
  single(
    'gauge',
    {
      name: 'busy_60s',
      help: 'BUSY answers of the last 60 seconds.',
      seed: 'ms_rpc_backpressure_ms_busy_60s',
    },
    (s) => s.throttle.busy60s,
  ),
  single(
    'gauge',
    { name: 'directory_pairs', help: 'Pairs of RPC type and table that are tracked.' },
    (s) => s.directory.used,
  ),
  single(
    'gauge',
    { name: 'directory_capacity', help: 'Pairs that can be tracked.' },
    (s) => s.directory.capacity,
  ),
  single(
    'counter',
    {
      name: 'directory_overflow_total',
      help: 'Calls that went through uncounted because the directory was full.',
    },
    (s) => s.directory.overflow,
  ),
  {
    name: 'ring_drops_total',
    type: 'counter',
    help: 'Messages to the control thread that a full ring dropped; BUSY is made up for by a counter.',
    labels: ['kind'],
    read: ({ snapshot: { ringDrops } }) => [
      { labels: { kind: 'busy' }, value: ringDrops.busy },
      { labels: { kind: 'circuit' }, value: ringDrops.circuit },
    ],
  },
  ...CIRCUIT_METRICS,
  {
    name: 'peer_reads_total',
    type: 'counter',
    help: 'Reads from peers by who served them.',
    labels: ['source'],
    read: ({ snapshot: { peerReads } }) => [
      { labels: { source: 'peer' }, value: peerReads.servedByPeer },
      { labels: { source: 'fallback' }, value: peerReads.servedByFallback },
    ],
  },
  single(
    'counter',
    { name: 'peer_attempts_total', help: 'Peers that were asked, counting each try.' },
    (s) => s.peerReads.attempts,
  ),
  single(
    'counter',
    { name: 'peer_misses_total', help: 'Tries of peers that did not serve the read.' },
    (s) => s.peerReads.misses,
  ),
  single(
    'counter',
    {
      name: 'peer_connect_timeouts_total',
      help: 'Tries of peers that were not connected to in time.',
    },
    (s) => s.peerReads.connectTimeouts,
  ),
  single(
    'counter',
    {
      name: 'peers_passed_over_total',
      help: 'Candidates that were passed over because their circuit was open.',
    },
    (s) => s.peerReads.open,
  ),
  single('gauge', { name: 'threads', help: 'Threads attached.' }, (s) => s.threads),
  single(
    'gauge',
    { name: 'config_version', help: 'Version of the configuration in force.' },
    (s) => s.configVersion,
  ),
  single(
    'gauge',
    { name: 'control_generation', help: 'Which control thread this is, from 1.' },
    (s) => s.controlGeneration,
  ),
  single(
    'counter',
    { name: 'control_restarts_total', help: 'Times that the control thread was started again.' },
    (s) => s.controlRestarts,
  ),
  single(
    'gauge',
    { name: 'clock_lag_max_seconds', help: 'Largest age of the coarse clock that was seen.' },
    (s) => s.maxLagMs / 1e3,
  ),
  single(
    'gauge',
    { name: 'permits_held', help: 'Permits of calls that still wait, of all limits.' },
    (s) => s.conservation.held,
  ),
  single(
    'gauge',
    {
      name: 'conservation_ok',
      help: '1 when granted = spent + returned + lost + held, else 0.',
    },
    (s) => (s.conservation.ok ? 1 : 0),
  ),
];
