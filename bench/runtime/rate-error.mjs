// The long-run rate of a bucket against the one asked for, in virtual time: a caller that always waits as it is told.
import { createArena } from '../../dist/shared/arena.js';
import { intervalNs } from '../../dist/shared/quota.js';

const RATES = [0.1, 0.3, 1, 7, 99.9, 1000, 33_333, 123_456.7, 654_321, 999_001, 999_999, 1_000_000];
const GRANTS = 200_000;

export async function measure() {
  return { wasm: worst(false), twin: worst(true) };
}

/** @param {boolean} twin */
function worst(twin) {
  const { arena } = createArena({ threads: 1, rpcs: 1, pairs: 16 }, twin);
  const errors = RATES.map((qps) => ({ qps, error: errorAt(arena, qps) }));
  return errors.reduce((a, b) => (Math.abs(b.error) > Math.abs(a.error) ? b : a));
}

/** @param {import('../../dist/shared/arena.js').Arena} arena @param {number} qps */
function errorAt({ kernel, layout }, qps) {
  const bucket = layout.bucket(0, false);
  const thread = layout.thread(0);
  const interval = intervalNs(qps);
  // Hours into the runtime, so that sums of large and small times are in it.
  let now = 86_400e9;
  kernel.configure(bucket, now, interval, interval, qps, 1, 1);
  const reserve = () => {
    const wait = kernel.reserve(bucket, thread.stats(0, 'host'), thread.scratch, now, 1, Infinity);
    now += wait;
  };
  reserve();
  const start = now;
  for (let i = 0; i < GRANTS; i += 1) reserve();
  return (GRANTS / ((now - start) / 1e9) - qps) / qps;
}
