import { describe, expect, it } from 'vitest';
import type { PairRate } from '../../../src/actors/throttle/limit-action.js';
import { createRegistryBehavior } from '../../../src/actors/throttle/registry-actor.js';
import { createBehaviorKit } from '../../../src/testing/behavior-kit.js';
import { createTestSystem } from '../../../src/testing/test-system.js';
import { MemoryPairs } from './memory-pairs.js';

const options = { windowMs: 1000, sampleMs: 100, idleMs: 60_000, onStarted: () => {} };

function start(pairs: MemoryPairs) {
  const test = createTestSystem();
  const registry = test.system.spawn(createRegistryBehavior({ ...options, source: pairs }), {
    name: 'registry',
  });
  const rates = test.probe<readonly PairRate[]>();
  return { ...test, registry, rates };
}

describe('the registry actor', () => {
  it('is switched off to begin with: no sample, no timer', () => {
    const pairs = new MemoryPairs();
    const { time } = start(pairs);
    time.advanceTo(10_000);
    expect(pairs.visits).toBe(0);
    expect(time.pendingTimers).toBe(0);
  });

  it('samples every 100 ms while it is on, and nothing else wakes it', () => {
    const pairs = new MemoryPairs();
    const { system, time, registry } = start(pairs);
    system.tell(registry, { kind: 'switch', active: true });
    time.advanceTo(10_000);
    expect(pairs.visits).toBe(101);
  });

  it('answers with the hottest pairs of the load-related types, by name', () => {
    const pairs = new MemoryPairs(['a', 'b', 'c']);
    const { system, time, registry, rates } = start(pairs);
    system.tell(registry, { kind: 'switch', active: true });
    time.settle();
    for (const [rpc, table, n] of [
      ['a', '1', 10],
      ['a', '2', 30],
      ['a', '3', 20],
      ['b', '1', 5],
      ['c', '1', 99],
    ] as const) {
      pairs.add(rpc, table, n);
    }
    time.advanceTo(1000);
    system.tell(registry, {
      kind: 'hottest',
      k: 2,
      rpcs: ['a', 'b', 'unheard of'],
      replyTo: rates.ref,
    });
    rates.expectMessage([
      { rpc: 'a', table: '2', qps: 30 },
      { rpc: 'a', table: '3', qps: 20 },
      { rpc: 'b', table: '1', qps: 5 },
    ]);
  });

  it('samples first when it is asked for the hottest pairs after a stall, before the sample that is due', () => {
    const pairs = new MemoryPairs();
    const kit = createBehaviorKit(createRegistryBehavior({ ...options, source: pairs }));
    const { ref } = createTestSystem().probe<readonly PairRate[]>();
    const ask = () => kit.run({ kind: 'hottest', k: 1, rpcs: ['a'], replyTo: ref });
    kit.run({ kind: 'switch', active: true });
    pairs.add('a', '1', 100);
    kit.setNow(100);
    expect(ask()).toMatchObject([{ kind: 'tell', message: [] }]);
    kit.setNow(500);
    expect(ask()).toMatchObject([{ kind: 'tell', message: [{ rpc: 'a', table: '1', qps: 200 }] }]);
    expect(pairs.visits).toBe(2);
  });

  it('answers with the rates of given pairs, 0 for those that it does not know', () => {
    const pairs = new MemoryPairs();
    const { system, time, registry, rates } = start(pairs);
    system.tell(registry, { kind: 'switch', active: true });
    time.settle();
    pairs.add('a', '1', 10);
    time.advanceTo(1000);
    const asked = [
      { rpc: 'a', table: 'unheard of' },
      { rpc: 'a', table: '1' },
    ];
    system.tell(registry, { kind: 'rates', pairs: asked, replyTo: rates.ref });
    expect(rates.expectMessage().map(({ qps }) => qps)).toEqual([0, 10]);
  });

  it('forgets all rates when it is switched off, and starts anew when switched on', () => {
    const pairs = new MemoryPairs();
    const { system, time, registry, rates } = start(pairs);
    system.tell(registry, { kind: 'switch', active: true });
    time.settle();
    pairs.add('a', '1', 1000);
    time.advanceTo(1000);
    system.tell(registry, { kind: 'switch', active: false });
    system.tell(registry, { kind: 'hottest', k: 1, rpcs: ['a'], replyTo: rates.ref });
    rates.expectMessage([]);
    expect(time.pendingTimers).toBe(0);
    system.tell(registry, { kind: 'switch', active: true });
    time.advanceTo(1500);
    system.tell(registry, { kind: 'hottest', k: 1, rpcs: ['a'], replyTo: rates.ref });
    rates.expectMessage([]);
  });

  it('drops pairs that are idle for a minute, unless that is refused', () => {
    const pairs = new MemoryPairs();
    const { system, time, registry } = start(pairs);
    pairs.add('a', 'idle', 1);
    pairs.add('a', 'limited', 1);
    pairs.pin('a', 'limited', true);
    system.tell(registry, { kind: 'switch', active: true });
    time.advanceTo(59_900);
    expect(pairs.dropped).toEqual([]);
    time.advanceTo(61_100);
    expect(pairs.dropped).toEqual(['a/idle']);
  });

  it('switched on twice keeps its samples and its one timer', () => {
    const kit = createBehaviorKit(
      createRegistryBehavior({ ...options, source: new MemoryPairs() }),
    );
    const first = kit.run({ kind: 'switch', active: true });
    expect(first).toMatchObject([{ kind: 'every', intervalMs: 100, message: { kind: 'sample' } }]);
    const { registry } = kit.state;
    expect(kit.run({ kind: 'switch', active: true })).toEqual([]);
    expect(kit.state.registry).toBe(registry);
    expect(kit.run({ kind: 'switch', active: false })).toMatchObject([{ kind: 'cancel' }]);
    expect(kit.run({ kind: 'sample' })).toEqual([]);
  });
});
