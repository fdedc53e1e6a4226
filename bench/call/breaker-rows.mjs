// What the call bench shows of the circuit breaker.

/** @type {readonly import('../harness/sampling.mjs').Row[]} */
export const BREAKER_ROWS = [
  {
    name: 'circuit.closed',
    about: 'admit and settle of a healthy address',
    module: './circuit-closed.mjs',
  },
  {
    name: 'circuit.address',
    about: 'the same by the address, 100 peers in turn',
    module: './circuit-by-address.mjs',
  },
  {
    name: 'circuit.recovered',
    about: 'the same of an address that was open a moment ago',
    module: './circuit-recovered.mjs',
  },
  {
    name: 'circuit.refused',
    about: 'a refusal, its error included',
    module: './circuit-refused.mjs',
  },
];

/** Each once, in a process of its own. Modules are relative to rows/, as `inFreshProcess` wants them. */
export const BREAKER_PARTS = [
  {
    name: 'stampede',
    module: '../call/stampede.mjs',
    /** @param {Record<string, number>} run */
    describe: (run) =>
      `half-open stampede: ${run['threads']} threads x ${run['callsPerThread']} calls, ${run['rounds']} times: ` +
      `from ${run['fewestProbes']} to ${run['mostProbes']} probes each time (aim 1 and 1)`,
  },
  {
    name: 'addresses',
    module: '../call/addresses.mjs',
    /** @param {Record<string, number>} run */
    describe: (run) =>
      `${run['addresses']} addresses failing once: at most ${run['mostTracked']} tracked, ${run['tracked']} in the end ` +
      `(aim <= ${run['maxAddresses']}), ${run['stillOpen']} of ${run['open']} open circuits kept, ` +
      `heap ${run['heapGrowthMiB']?.toFixed(1)} MiB, ${run['nsPerFailure']?.toFixed(0)} ns each`,
  },
];
