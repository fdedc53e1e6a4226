import { type MetricSpec, perRpc, single, waits } from './metric-spec.js';

/** Of the host-level limits, and the accounts of their permits. */
export const HOST_METRICS: readonly MetricSpec[] = [
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
  single(
    'gauge',
    { name: 'permits_held', help: 'Permits of calls that still wait, of all limits.' },
    (s) => s.conservation.held,
  ),
  single(
    'gauge',
    {
      name: 'conservation_ok',
      together: 'min',
      help: '1 when granted = spent + returned + lost + held, else 0.',
    },
    (s) => (s.conservation.ok ? 1 : 0),
  ),
  waits(
    {
      name: 'host_wait_seconds',
      help: 'Waits for the host-level limit.',
      seed: 'host_level_ms_rpc_rate_limit_sleep_*',
    },
    (r) => r.hostWait,
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
    'counter',
    {
      name: 'dry_run_wait_seconds_total',
      help: 'Waits that dry runs would have asked for, added up.',
    },
    (r) => r.dryRunWaitMs / 1e3,
  ),
];
