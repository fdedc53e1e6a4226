import { expect, it } from 'vitest';
import { runFaults } from '../../bench/call/faults.mjs';

it('calls with random faults at every await, in threads that are killed: permits are conserved, nothing is wedged', async () => {
  const seed = 1 + Math.floor(Math.random() * 1e9);
  // Throws, and names the seed, when a permit is missing or a circuit does not close again.
  const run = await runFaults({ calls: 2500, threads: 3, seed, lifeMs: 700 });
  expect(run.kills).toBeGreaterThan(0);
  expect(run.ended).toBeLessThanOrEqual(run.calls);
});
