/** @type {readonly import('./harness/sampling.mjs').Row[]} */
export const BUCKET_ROWS = [
  {
    name: 'spillway.granted',
    about: 'tryAcquire, granted, coarse clock',
    module: './spillway-granted.mjs',
  },
  {
    name: 'spillway.precise',
    about: 'tryAcquire, granted, precise clock',
    module: './spillway-precise.mjs',
  },
  { name: 'spillway.refused', about: 'tryAcquire, refused', module: './spillway-refused.mjs' },
  {
    name: 'spillway.contended',
    about: 'two threads on one bucket, coarse clock, in total',
    module: './spillway-contended.mjs',
  },
  { name: 'plain-js', about: 'a bucket of one thread', module: './plain-js.mjs' },
  { name: 'limiter', about: 'limiter, tryRemoveTokens', module: './limiter.mjs' },
  {
    name: 'rate-limiter-flexible',
    about: 'rate-limiter-flexible in memory, consume',
    module: './rate-limiter-flexible.mjs',
  },
  {
    name: 'js-atomics',
    about: "the kernel's twin in JavaScript, coarse clock",
    module: './spillway-granted.mjs',
    env: { SPILLWAY_KERNEL: 'twin' },
  },
  {
    name: 'js-atomics.contended',
    about: 'two threads on it',
    module: './spillway-contended.mjs',
    env: { SPILLWAY_KERNEL: 'twin' },
  },
  { name: 'gcra-js', about: "the kernel's decision on an Int32", module: './gcra-js.mjs' },
  { name: 'gcra-js.contended', about: 'two threads on it', module: './gcra-js-contended.mjs' },
  { name: 'fast-js', about: 'the fastest shared bucket in JavaScript', module: './fast-js.mjs' },
  { name: 'fast-js.contended', about: 'two threads on it', module: './fast-js-contended.mjs' },
  { name: 'atomics-add', about: 'a bare Atomics.add', module: './atomics-add.mjs' },
  { name: 'kernel-add', about: 'an atomic add inside the kernel', module: './kernel-add.mjs' },
  { name: 'message-port', about: 'a round trip to another thread', module: './message-port.mjs' },
];

/** Times of `above` over times of `below`; of several, the fastest in each round. */
export const BUCKET_RATIOS = [
  {
    about: 'fastest JavaScript peer / spillway.granted',
    aim: '>= 5',
    above: ['plain-js', 'limiter', 'rate-limiter-flexible'],
    below: ['spillway.granted'],
  },
  {
    about: 'spillway.granted / atomics-add',
    aim: '<= 0.8',
    above: ['spillway.granted'],
    below: ['atomics-add'],
  },
  {
    about: 'spillway.granted / kernel-add',
    aim: '<= 2.5',
    above: ['spillway.granted'],
    below: ['kernel-add'],
  },
  {
    about: 'spillway.precise / plain-js',
    aim: '<= 1.5',
    above: ['spillway.precise'],
    below: ['plain-js'],
  },
  {
    about: 'fastest shared JavaScript, two threads / spillway.contended',
    aim: '>= 2.5',
    above: ['js-atomics.contended', 'gcra-js.contended', 'fast-js.contended'],
    below: ['spillway.contended'],
  },
  {
    about: 'the same without the counter that reads no clock',
    aim: '>= 2.5',
    above: ['js-atomics.contended', 'gcra-js.contended'],
    below: ['spillway.contended'],
  },
];
