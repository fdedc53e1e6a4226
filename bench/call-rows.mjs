/** @type {readonly import('./harness/sampling.mjs').Row[]} */
export const CALL_ROWS = [
  { name: 'bare', about: 'await of the attempt alone', module: './bare-call.mjs' },
  { name: 'spillway', about: 'gate.call: host, table, circuit, 3 attempts', module: './call.mjs' },
  { name: 'spillway.once', about: 'the same without retries', module: './call-once.mjs' },
  { name: 'cockatiel', about: 'retry and breaker, with limiter', module: './cockatiel.mjs' },
  { name: 'opossum', about: 'a breaker alone', module: './opossum.mjs' },
  {
    name: 'spillway.timeout',
    about: 'gate.call with an attempt time-out',
    module: './call-timeout.mjs',
  },
  {
    name: 'spillway.timeout.signal',
    about: "the same, the attempt's signal read, on a caller's signal",
    module: './call-timeout-signal.mjs',
  },
  {
    name: 'cockatiel.timeout',
    about: 'with a time-out, on a signal',
    module: './cockatiel-timeout.mjs',
  },
  { name: 'opossum.timeout', about: 'a breaker with a time-out', module: './opossum-timeout.mjs' },
];
