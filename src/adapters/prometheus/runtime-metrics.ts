import { type MetricSpec, single } from './metric-spec.js';

/** Of the runtime itself, its threads and its control thread. */
export const RUNTIME_METRICS: readonly MetricSpec[] = [
  {
    name: 'build_info',
    together: 'first',
    type: 'gauge',
    help: 'Always 1; the labels say what runs.',
    labels: ['version', 'kernel', 'node'],
    read: ({ facts: { version, kernel, node } }) => [
      { labels: { version, kernel, node }, value: 1 },
    ],
  },
  {
    name: 'backend_info',
    together: 'first',
    type: 'gauge',
    help: 'Always 1; the label is the option backendId. Not shown without one.',
    labels: ['backend_id'],
    read: ({ facts: { backendId } }) =>
      backendId === undefined ? [] : [{ labels: { backend_id: backendId }, value: 1 }],
  },
  {
    name: 'start_time_seconds',
    together: 'min',
    type: 'gauge',
    help: 'When the runtime was started, Unix time.',
    labels: [],
    read: ({ startedAt }) => [{ labels: {}, value: startedAt }],
  },
  single(
    'gauge',
    { name: 'config_version', together: 'max', help: 'Version of the configuration in force.' },
    (s) => s.configVersion,
  ),
  {
    name: 'dry_run',
    type: 'gauge',
    together: 'max',
    help: '1 where limits are only rehearsed and nobody waits, else 0.',
    labels: ['stage'],
    read: ({ snapshot: { dryRun } }) => [
      { labels: { stage: 'host' }, value: dryRun.host ? 1 : 0 },
      { labels: { stage: 'table' }, value: dryRun.tables ? 1 : 0 },
    ],
  },
  single('gauge', { name: 'threads', help: 'Threads attached.' }, (s) => s.threads),
  single(
    'gauge',
    { name: 'control_generation', together: 'max', help: 'Which control thread this is, from 1.' },
    (s) => s.controlGeneration,
  ),
  single(
    'counter',
    { name: 'control_restarts_total', help: 'Times that the control thread was started again.' },
    (s) => s.controlRestarts,
  ),
  single(
    'gauge',
    {
      name: 'control_silent_seconds',
      together: 'max',
      help: 'Since the last sign of life of the control thread, which gives one every second.',
    },
    (s) => s.controlSilentMs / 1e3,
  ),
  single(
    'counter',
    { name: 'actor_failures_total', help: 'Times that an actor of the control thread failed.' },
    (s) => s.actors.failures,
  ),
  {
    name: 'actor_dead_letters_total',
    type: 'counter',
    help: 'Messages between actors that were not handled: a mailbox was full, or nobody was there.',
    labels: ['reason'],
    read: ({ snapshot: { actors } }) => [
      { labels: { reason: 'overflow' }, value: actors.overflows },
      { labels: { reason: 'undelivered' }, value: actors.undelivered },
    ],
  },
  {
    name: 'ring_drops_total',
    type: 'counter',
    help: 'Messages to the control thread that a full ring dropped; BUSY is made up for by a counter.',
    labels: ['kind'],
    read: ({ snapshot: { ringDrops } }) => [
      { labels: { kind: 'busy' }, value: ringDrops.busy },
      { labels: { kind: 'circuit' }, value: ringDrops.circuit },
      { labels: { kind: 'pressure' }, value: ringDrops.pressure },
    ],
  },
  single(
    'gauge',
    {
      name: 'clock_lag_max_seconds',
      together: 'max',
      help: 'Largest age of the coarse clock that was seen.',
    },
    (s) => s.maxLagMs / 1e3,
  ),
];
