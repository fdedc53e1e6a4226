import type { BreakerSnapshot } from '../../workers/snapshot.js';
import { labelValue } from './label-value.js';
import { type MetricSpec, single } from './metric-spec.js';

function total(name: string, help: string, read: (breaker: BreakerSnapshot) => number): MetricSpec {
  return single('counter', { name, help }, ({ breaker }) => read(breaker));
}

const STATE_VALUES = { closed: 0, half_open: 1, open: 2 } as const;

/** Of the circuit breaker. Addresses are shown while they are unhealthy, and no more of them than a snapshot has. */
export const CIRCUIT_METRICS: readonly MetricSpec[] = [
  {
    name: 'circuits',
    type: 'gauge',
    help: 'Unhealthy addresses by the state of their circuit; closed: with failures.',
    labels: ['state'],
    read: ({ snapshot: { breaker } }) => [
      { labels: { state: 'closed' }, value: breaker.closed },
      { labels: { state: 'open' }, value: breaker.open },
      { labels: { state: 'half_open' }, value: breaker.halfOpen },
    ],
  },
  {
    name: 'circuit_state',
    together: 'max',
    type: 'gauge',
    help: 'Circuit of an unhealthy address: 0 closed with failures, 1 half-open, 2 open.',
    labels: ['address'],
    read: ({ snapshot }) =>
      snapshot.circuits.map(({ address, state }) => ({
        labels: { address: labelValue(address) },
        value: STATE_VALUES[state],
      })),
  },
  {
    name: 'circuits_not_shown',
    type: 'gauge',
    help: 'Unhealthy addresses beyond the number that is shown one by one.',
    labels: [],
    read: ({ snapshot: { breaker, circuits } }) => [
      { labels: {}, value: breaker.tracked - circuits.length },
    ],
  },
  total('circuit_refused_total', 'Calls that an open circuit refused.', (b) => b.refused),
  total('circuit_opened_total', 'Times that a circuit opened.', (b) => b.opened),
  total('circuit_recovered_total', 'Times that a circuit closed.', (b) => b.recovered),
  total('circuit_probes_total', 'Calls that tried an address again.', (b) => b.probes),
  total('circuit_probes_lost_total', 'Probes that were given up.', (b) => b.probesLost),
  total(
    'circuit_late_results_total',
    'Results of calls that an earlier state of their circuit had admitted.',
    (b) => b.late,
  ),
  total(
    'circuit_untracked_total',
    'Failures that found no room for their address.',
    (b) => b.untracked,
  ),
  total('circuit_evicted_total', 'Addresses that were forgotten to make room.', (b) => b.evicted),
];
