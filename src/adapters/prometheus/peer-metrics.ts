import { type MetricSpec, single } from './metric-spec.js';

/** Of reads from peers. */
export const PEER_METRICS: readonly MetricSpec[] = [
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
];
