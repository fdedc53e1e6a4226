/** When each alert fires, and when it does not: series as promtool's unit tests write them, one value a minute. */
export interface AlertCase {
  readonly alert: string;
  readonly fires: Series;
  /** Each of them on its own. */
  readonly quiet: Readonly<Record<string, Series>>;
}

export type Series = Readonly<Record<string, string>>;

const at = (name: string, labels = ''): string =>
  `${name}{instance="a:1",job="spillway"${labels === '' ? '' : `,${labels}`}}`;
const rpc = (name: string, labels = ''): string =>
  at(name, `rpc="commit_rowset"${labels === '' ? '' : `,${labels}`}`);
const table = (name: string): string => at(name, 'table="orders"');
const FLAT = '7x120';
const REOPENING = '2 2 1 '.repeat(40);

const waits = (slow: string): Series => ({
  [rpc('spillway_host_wait_seconds_bucket', 'le="0.5"')]: '0+60x120',
  [rpc('spillway_host_wait_seconds_bucket', 'le="1"')]: '0+60x120',
  [rpc('spillway_host_wait_seconds_bucket', 'le="2.5"')]: slow,
  [rpc('spillway_host_wait_seconds_bucket', 'le="+Inf"')]: slow,
});

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'SpillwayMissing',
    fires: { 'up{instance="a:1",job="other"}': '1x120' },
    quiet: {
      'a runtime': { [at('spillway_build_info')]: '1x120' },
      'a store': { [at('spillway_kv_log_bytes')]: '4096x120' },
    },
  },
  {
    alert: 'SpillwayPermitsUnaccounted',
    fires: { [at('spillway_conservation_ok')]: '0x120' },
    quiet: {
      'all accounted for': { [at('spillway_conservation_ok')]: '1x120' },
      'one scrape in the middle of a call': { [at('spillway_conservation_ok')]: '1x58 0 1x60' },
    },
  },
  {
    alert: 'SpillwayControlThreadSilent',
    fires: { [at('spillway_control_silent_seconds')]: '0+60x120' },
    quiet: {
      'a sign of life a second ago': { [at('spillway_control_silent_seconds')]: '1.2x120' },
      'a restart in between': { [at('spillway_control_silent_seconds')]: '0.5x59 12 0.5x60' },
    },
  },
  {
    alert: 'SpillwayControlThreadRestarts',
    fires: { [at('spillway_control_restarts_total')]: '0x50 1 2 3 4x80' },
    quiet: {
      never: { [at('spillway_control_restarts_total')]: '0x120' },
      'once, long ago': { [at('spillway_control_restarts_total')]: '0x10 1x110' },
      // After scrapes that were missed, so that increase() extrapolates.
      'once, just now': { [at('spillway_control_restarts_total')]: '3x33 _x2 3x10 4x80' },
    },
  },
  {
    alert: 'SpillwayActorsFail',
    fires: { [at('spillway_actor_failures_total')]: '0x50 3x80' },
    quiet: { 'failures of long ago': { [at('spillway_actor_failures_total')]: '3x120' } },
  },
  {
    alert: 'SpillwayActorsOverloaded',
    fires: { [at('spillway_actor_dead_letters_total', 'reason="overflow"')]: '0+5x120' },
    quiet: {
      'messages to an actor that has ended': {
        [at('spillway_actor_dead_letters_total', 'reason="undelivered"')]: '0+5x120',
      },
    },
  },
  {
    alert: 'SpillwayReportsDropped',
    fires: { [at('spillway_ring_drops_total', 'kind="busy"')]: '0+60x120' },
    quiet: { 'drops of long ago': { [at('spillway_ring_drops_total', 'kind="busy"')]: FLAT } },
  },
  {
    alert: 'SpillwayDirectoryNearlyFull',
    fires: {
      [at('spillway_directory_pairs')]: '15000x120',
      [at('spillway_directory_capacity')]: '16384x120',
    },
    quiet: {
      'half full': {
        [at('spillway_directory_pairs')]: '8000x120',
        [at('spillway_directory_capacity')]: '16384x120',
      },
    },
  },
  {
    alert: 'SpillwayDirectoryOverflows',
    fires: { [at('spillway_directory_overflow_total')]: '0+60x120' },
    quiet: { 'overflows of long ago': { [at('spillway_directory_overflow_total')]: FLAT } },
  },
  {
    alert: 'SpillwayTablesThrottled',
    fires: {
      [at('spillway_throttle_level')]: '0 2x120',
      [at('spillway_dry_run', 'stage="host"')]: '1x120',
      [at('spillway_dry_run', 'stage="table"')]: '0x120',
    },
    quiet: {
      'a dry run': {
        [at('spillway_throttle_level')]: '0 2x120',
        [at('spillway_dry_run', 'stage="table"')]: '1x120',
      },
      'nothing slowed': { [at('spillway_throttle_level')]: '0x120' },
      'a quarter of an hour': { [at('spillway_throttle_level')]: '0x44 3x15 0x60' },
    },
  },
  {
    alert: 'SpillwayThrottleEscalates',
    fires: { [at('spillway_throttle_level')]: '0+1x120' },
    quiet: {
      'a dry run': {
        [at('spillway_throttle_level')]: '0+1x120',
        [at('spillway_dry_run', 'stage="table"')]: '1x120',
      },
      'a high level that stays': { [at('spillway_throttle_level')]: '40x120' },
      'a level that falls': { [at('spillway_throttle_level')]: '120-1x120' },
    },
  },
  {
    alert: 'SpillwayBusy',
    fires: { [rpc('spillway_busy_total')]: '0+6x120', [rpc('spillway_calls_total')]: '0+60x120' },
    quiet: {
      'one in a hundred': {
        [rpc('spillway_busy_total')]: '0+6x120',
        [rpc('spillway_calls_total')]: '0+600x120',
      },
      'no calls at all': {
        [rpc('spillway_busy_total')]: FLAT,
        [rpc('spillway_calls_total')]: FLAT,
      },
    },
  },
  {
    alert: 'SpillwayCallsRefused',
    fires: {
      [rpc('spillway_refused_total')]: '0+6x120',
      [rpc('spillway_calls_total')]: '0+60x120',
    },
    quiet: {
      'one in a thousand': {
        [rpc('spillway_refused_total')]: '0+6x120',
        [rpc('spillway_calls_total')]: '0+6000x120',
      },
      'no calls at all': {
        [rpc('spillway_refused_total')]: FLAT,
        [rpc('spillway_calls_total')]: FLAT,
      },
    },
  },
  {
    alert: 'SpillwayHostWaitLong',
    fires: waits('0+120x120'),
    quiet: { 'short waits': waits('0+60x120'), 'no waits': waits(FLAT) },
  },
  {
    alert: 'SpillwayQueueLong',
    fires: {
      [rpc('spillway_waiting_calls', 'stage="host"')]: '600x120',
      [rpc('spillway_waiting_calls', 'stage="table"')]: '600x120',
    },
    quiet: { 'a short queue': { [rpc('spillway_waiting_calls', 'stage="host"')]: '900x120' } },
  },
  {
    alert: 'SpillwayDeadlinesExceeded',
    fires: {
      [rpc('spillway_deadlines_exceeded_total')]: '0+6x120',
      [rpc('spillway_calls_total')]: '0+60x120',
    },
    quiet: {
      'one in a thousand': {
        [rpc('spillway_deadlines_exceeded_total')]: '0+6x120',
        [rpc('spillway_calls_total')]: '0+6000x120',
      },
    },
  },
  {
    alert: 'SpillwayRetryBudgetSpent',
    fires: { [rpc('spillway_retries_denied_total')]: '0+60x120' },
    quiet: { 'denied long ago': { [rpc('spillway_retries_denied_total')]: FLAT } },
  },
  {
    alert: 'SpillwayClassifierFaults',
    fires: { [rpc('spillway_classifier_faults_total')]: '0+60x120' },
    quiet: { 'faults of long ago': { [rpc('spillway_classifier_faults_total')]: FLAT } },
  },
  {
    alert: 'SpillwayCircuitOpen',
    // Every third scrape finds a probe under way.
    fires: { [at('spillway_circuit_state', 'address="b:2"')]: REOPENING },
    quiet: {
      'failures, closed still': { [at('spillway_circuit_state', 'address="b:2"')]: '0x120' },
      'a probe that closes it': { [at('spillway_circuit_state', 'address="b:2"')]: '2x4 1 0x115' },
      'one that opens again and again': {
        [at('spillway_circuit_state', 'address="b:2"')]: `2x3 1 0 ${'2 2 1 0 '.repeat(30)}`,
      },
    },
  },
  {
    alert: 'SpillwayManyCircuitsOpen',
    // All at once they are probed.
    fires: {
      [at('spillway_circuits', 'state="open"')]: '11 8 0 '.repeat(40),
      [at('spillway_circuits', 'state="half_open"')]: '0 3 11 '.repeat(40),
    },
    quiet: {
      'a few': { [at('spillway_circuits', 'state="open"')]: '10x120' },
      'many with failures': { [at('spillway_circuits', 'state="closed"')]: '500x120' },
    },
  },
  {
    alert: 'SpillwayCircuitsUntracked',
    fires: { [at('spillway_circuit_untracked_total')]: '0+60x120' },
    quiet: { 'failures of long ago': { [at('spillway_circuit_untracked_total')]: FLAT } },
  },
  {
    alert: 'SpillwayPeersFallBack',
    fires: {
      [at('spillway_peer_reads_total', 'source="fallback"')]: '0+60x120',
      [at('spillway_peer_reads_total', 'source="peer"')]: '0+30x120',
    },
    quiet: {
      'most by peers': {
        [at('spillway_peer_reads_total', 'source="fallback"')]: '0+30x120',
        [at('spillway_peer_reads_total', 'source="peer"')]: '0+60x120',
      },
      'no reads at all': {
        [at('spillway_peer_reads_total', 'source="fallback"')]: FLAT,
        [at('spillway_peer_reads_total', 'source="peer"')]: FLAT,
      },
    },
  },
  {
    alert: 'SpillwayBucketsHeldBack',
    fires: { [at('spillway_pressure_windows')]: '3 0 1 0 0 '.repeat(30) },
    quiet: {
      none: { [at('spillway_pressure_windows')]: '0x120' },
      'a quarter of an hour': { [at('spillway_pressure_windows')]: '0x44 3x15 0x60' },
    },
  },
  {
    alert: 'SpillwayPressureRefuses',
    fires: { [at('spillway_pressure_refused_total')]: '0+60x120' },
    quiet: { 'refusals of long ago': { [at('spillway_pressure_refused_total')]: FLAT } },
  },
  {
    alert: 'SpillwayStorePressure',
    fires: { [table('spillway_kv_backpressure_max_pressure')]: '0.9x120' },
    quiet: {
      'some pressure': { [table('spillway_kv_backpressure_max_pressure')]: '0.5x120' },
      'a peak': { [table('spillway_kv_backpressure_max_pressure')]: '0.1x55 0.9x4 0.1x60' },
    },
  },
  {
    alert: 'SpillwayStoreRefuses',
    fires: { [table('spillway_kv_backpressure_rejections_total')]: '0+60x120' },
    quiet: {
      'refusals of long ago': { [table('spillway_kv_backpressure_rejections_total')]: FLAT },
    },
  },
  {
    alert: 'SpillwayStoreFlushStuck',
    fires: {
      [table('spillway_kv_flush_retries_total')]: '0+6x120',
      [table('spillway_kv_flushes_total')]: FLAT,
    },
    quiet: {
      'retries that succeed': {
        [table('spillway_kv_flush_retries_total')]: '0+6x120',
        [table('spillway_kv_flushes_total')]: '0+6x120',
      },
      'nothing to flush': {
        [table('spillway_kv_flush_retries_total')]: FLAT,
        [table('spillway_kv_flushes_total')]: FLAT,
      },
    },
  },
  {
    alert: 'SpillwayEngineStalls',
    fires: { [table('spillway_kv_engine_stall_seconds_total')]: '0+6x120' },
    quiet: { 'stalls of long ago': { [table('spillway_kv_engine_stall_seconds_total')]: FLAT } },
  },
];
