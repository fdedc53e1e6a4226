import { type MetricSpec, perRpc } from './metric-spec.js';

/** What became of calls and their attempts, by RPC type. */
export const CALL_METRICS: readonly MetricSpec[] = [
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
  {
    name: 'waiting_calls',
    type: 'gauge',
    help: 'Calls that wait now, in all threads, by what they wait for.',
    labels: ['rpc', 'stage'],
    read: ({ snapshot }) =>
      snapshot.rpcs.flatMap(({ rpc, waiting }) =>
        Object.entries(waiting).map(([stage, value]) => ({ labels: { rpc, stage }, value })),
      ),
  },
];
