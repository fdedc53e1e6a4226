// 100,000 tracked pairs: what a sample and the hottest of them cost, and their share of the arena.
import { QpsRegistry } from '../../dist/actors/throttle/qps-registry.js';
import { createArena } from '../../dist/shared/arena.js';
import { KeyDirectory } from '../../dist/shared/key-directory.js';
import { layOut } from '../../dist/shared/layout.js';
import { median } from '../harness/statistics.mjs';

const PAIRS = 100_000;
const RPCS = 5;
const ROUNDS = 60;

export async function measure() {
  const capacity = { threads: 4, rpcs: RPCS, pairs: PAIRS };
  const { arena } = createArena(capacity, false);
  const directory = new KeyDirectory(arena.buffer, arena.layout.directory, PAIRS);
  const cells = Array.from({ length: PAIRS }, (_, i) =>
    directory.findOrInsert(i % RPCS, String(10_000 + i)),
  );
  if (cells.includes(0)) throw new Error('the directory is full before its time');
  const registry = new QpsRegistry({ capacity: PAIRS, windowMs: 3000, sampleMs: 100 });
  const source = { visit: directory.visit.bind(directory) };
  const times = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    // The first cells are the hottest, in order.
    for (const [i, cell] of cells.entries()) {
      const calls = i < 50 ? 60 - i : 1;
      for (let call = 0; call < calls; call += 1) arena.kernel.enter(cell);
    }
    const start = performance.now();
    registry.sample(/** @type {never} */ (source), round * 100);
    const sampled = performance.now();
    const hottest = registry.hottest(2, [0, 1, 2, 3, 4]);
    const end = performance.now();
    if (round > 1 && hottest.length !== 2 * RPCS)
      throw new Error(`${hottest.length} pairs are the hottest`);
    if (round > ROUNDS / 2) times.push({ sampleMs: sampled - start, topKMs: end - sampled });
  }
  const sum = times.map(({ sampleMs, topKMs }) => sampleMs + topKMs);
  const bytes = (/** @type {number} */ pairs) => layOut({ ...capacity, pairs }).bytes;
  return {
    pairs: PAIRS,
    sampleMs: median(times.map(({ sampleMs }) => sampleMs)),
    topKMs: median(times.map(({ topKMs }) => topKMs)),
    bothMs: median(sum),
    worstMs: Math.max(...sum),
    arenaBytesEach: (bytes(PAIRS) - bytes(1)) / (PAIRS - 1),
  };
}
