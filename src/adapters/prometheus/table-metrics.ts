import { type About, type MetricSpec, perRpc, type Scrape, single, waits } from './metric-spec.js';
import type { ShownTable, TableSums } from './shown-tables.js';

function perTable(about: About, read: (table: ShownTable, scrape: Scrape) => number): MetricSpec {
  return {
    ...about,
    type: 'gauge',
    labels: ['rpc', 'table'],
    read: (scrape) =>
      scrape.tables.shown.map((table) => ({ labels: table.labels, value: read(table, scrape) })),
  };
}

/** Of the throttled pairs that have no series of their own. */
function unshown(about: About, read: (sums: TableSums) => number): MetricSpec {
  return {
    ...about,
    type: 'gauge',
    labels: ['rpc'],
    read: ({ tables }) =>
      [...tables.rest].map(([rpc, sums]) => ({ labels: { rpc }, value: read(sums) })),
  };
}

/** Of the limits of tables: what is slowed, since when, and what the throttle did. */
export const TABLE_METRICS: readonly MetricSpec[] = [
  waits(
    {
      name: 'table_wait_seconds',
      help: 'Waits for the limit of a throttled table.',
      seed: 'ms_rpc_backpressure_throttle_wait_*',
    },
    (r) => r.tableWait,
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
    ({ limit }) => limit.qpsLimit,
  ),
  perTable(
    { name: 'table_qps', help: 'Rate of a throttled table, calls per second.' },
    ({ limit }) => limit.currentQps,
  ),
  perTable(
    {
      name: 'table_throttled_timestamp_seconds',
      together: 'min',
      help: 'When a table that is throttled got its limit, Unix time.',
    },
    ({ limit }, { startedAt }) => startedAt + limit.sinceMs / 1e3,
  ),
  unshown(
    {
      name: 'tables_not_shown',
      help: 'Throttled tables beyond the number that is shown one by one.',
    },
    (s) => s.tables,
  ),
  unshown(
    { name: 'tables_not_shown_qps_limit', help: 'Limits of the tables not shown, added up.' },
    (s) => s.qpsLimit,
  ),
  unshown(
    { name: 'tables_not_shown_qps', help: 'Rates of the tables not shown, added up.' },
    (s) => s.currentQps,
  ),
  single(
    'gauge',
    {
      name: 'throttle_level',
      together: 'max',
      help: 'Upgrades in force; 0: no table is throttled.',
    },
    (s) => s.level,
  ),
  single(
    'counter',
    {
      name: 'throttle_upgrades_total',
      help: 'Times that the hottest tables were to be slowed; none may have been fast enough.',
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
    {
      name: 'directory_pairs',
      help: 'Pairs of RPC type and table that are tracked, and buckets with a pressure window.',
    },
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
];
