import { describe, expect, it } from 'vitest';
import type { ActorRef } from '../../../src/actors/core/actor-ref.js';
import { BusyInbox } from '../../../src/actors/throttle/busy-inbox.js';
import type { PairRate } from '../../../src/actors/throttle/limit-action.js';
import { createThrottleBehavior } from '../../../src/actors/throttle/throttle-actor.js';
import type { ThrottleEvent } from '../../../src/actors/throttle/throttle-event.js';
import type { ThrottleMemory } from '../../../src/actors/throttle/throttle-state.js';
import { createBehaviorKit } from '../../../src/testing/behavior-kit.js';
import type { Effect } from '../../../src/testing/effect.js';
import { CONFIG } from '../control-plane-under-test.js';
import { MemoryLimits } from './memory-limits.js';
import { MemoryPairs } from './memory-pairs.js';

const metrics: ActorRef<unknown> = { path: '/metrics#1' };

function createKit(limits = new MemoryLimits()) {
  const events: ThrottleEvent[] = [];
  const memory: ThrottleMemory = { config: CONFIG, history: [] };
  const inbox = new BusyInbox();
  const kit = createBehaviorKit(
    createThrottleBehavior({
      source: new MemoryPairs(),
      limits,
      memory,
      inbox,
      metrics,
      sampleMs: 100,
      idleMs: 60_000,
      onHistory: () => {},
      onEvent: (event) => events.push(event),
    }),
  );
  const decide = (decision: 'upgrade' | 'downgrade'): readonly Effect[] =>
    kit.run({ kind: 'decided', decision });
  const answer = (effects: readonly Effect[], ...pairs: PairRate[]): readonly Effect[] => {
    const ask = effects.find(({ kind }) => kind === 'ask');
    if (ask === undefined) throw new Error('nobody was asked');
    return kit.settle(ask, { ok: true, reply: pairs });
  };
  return { kit, events, limits, memory, inbox, decide, answer };
}

const hot = (qps: number): PairRate => ({ rpc: 'a', table: '1', qps });

describe('the throttle actor', () => {
  it('starts its registry and its coordinator, and tells each what stands when it has started', () => {
    const { kit } = createKit();
    const [registry, coordinator] = kit.takeEffects();
    expect(registry).toMatchObject({ kind: 'spawn', options: { name: 'registry' } });
    expect(coordinator).toMatchObject({ kind: 'spawn', options: { name: 'coordinator' } });
    expect(kit.run({ kind: 'registry-started' })).toMatchObject([
      { kind: 'tell', message: { kind: 'switch', active: true } },
    ]);
    expect(kit.run({ kind: 'coordinator-started' })).toMatchObject([
      {
        kind: 'tell',
        message: {
          kind: 'resume',
          active: true,
          pendingUpgrades: false,
          params: { upgradeCooldownTicks: 2000, downgradeAfterTicks: 3000 },
        },
      },
    ]);
  });

  it('passes BUSY on as one signal, and all of it to the counters', () => {
    const { kit, inbox } = createKit();
    inbox.add(3);
    inbox.add(4);
    expect(kit.run({ kind: 'busy' })).toMatchObject([
      { target: metrics, message: { kind: 'count', counter: 'busy', n: 7 } },
      { message: { kind: 'busy' } },
    ]);
    expect(inbox.take()).toBe(0);
  });

  it('asks for the hottest pairs, limits them, and tells the coordinator what is left to undo', () => {
    const { limits, decide, answer } = createKit();
    const asked = decide('upgrade');
    expect(asked).toMatchObject([
      { kind: 'ask', message: { kind: 'hottest', k: 2, rpcs: ['a', 'b'] } },
    ]);
    expect(answer(asked, hot(100))).toMatchObject([
      { message: { kind: 'pending', value: true } },
      { target: metrics, message: { kind: 'count', counter: 'upgrades', n: 1 } },
    ]);
    expect(limits.shown).toEqual(['a/1: 50']);
  });

  it('does decisions in their order, also those that come while it waits for the pairs', () => {
    const { limits, events, decide, answer } = createKit();
    answer(decide('upgrade'), hot(100));
    const asked = decide('upgrade');
    expect(decide('downgrade')).toEqual([]);
    expect(decide('upgrade')).toEqual([]);
    expect(limits.shown).toEqual(['a/1: 50']);
    const askedAgain = answer(asked, hot(50));
    expect(events.slice(1).map(({ kind, level }) => [kind, level])).toEqual([
      ['upgrade', 1],
      ['upgrade', 2],
      ['downgrade', 1],
    ]);
    expect(limits.shown).toEqual(['a/1: 50']);
    answer(askedAgain, hot(50));
    expect(limits.shown).toEqual(['a/1: 25']);
  });

  it('takes upgrades that come while it waits for one: a silent registry gathers no list of them', () => {
    const { kit, decide } = createKit();
    decide('upgrade');
    for (let i = 0; i < 1000; i += 1) decide('upgrade');
    decide('downgrade');
    decide('upgrade');
    expect(kit.state.deferred.map(({ decision }) => decision)).toEqual([
      'upgrade',
      'downgrade',
      'upgrade',
    ]);
  });

  it('switched off while it waits limits nothing, and does nothing that was decided before', () => {
    const { kit, limits, decide, answer } = createKit();
    answer(decide('upgrade'), hot(100));
    const asked = decide('upgrade');
    decide('upgrade');
    kit.run({ kind: 'configure', config: { ...CONFIG, enabled: false } });
    expect(limits.shown).toEqual([]);
    expect(decide('upgrade')).toEqual([]);
    kit.run({ kind: 'configure', config: CONFIG });
    expect(decide('upgrade')).toEqual([]);
    const again = answer(asked, hot(100));
    expect(limits.shown).toEqual([]);
    answer(again, hot(80));
    expect(limits.shown).toEqual(['a/1: 40']);
  });

  it('without an answer of the registry makes an upgrade that limits nothing', () => {
    const { kit, limits, events, decide } = createKit();
    const [ask] = decide('upgrade');
    kit.settle(ask as Effect, { ok: false, error: new Error('no answer') });
    expect(limits.shown).toEqual([]);
    expect(events.at(-1)).toMatchObject({ kind: 'upgrade', level: 0, actions: [] });
  });

  it('keeps the memory of its successor up to date, limits first', () => {
    const { limits, memory, decide, answer } = createKit();
    answer(decide('upgrade'), hot(100));
    expect(memory.history).toHaveLength(1);
    limits.failures = 1;
    const asked = decide('upgrade');
    expect(() => answer(asked, hot(50))).toThrow('the limiter port failed');
    expect(memory.history).toHaveLength(1);
  });

  it('says what each change did to whom, and why', () => {
    const { kit, events, inbox, decide, answer } = createKit();
    inbox.add(7);
    kit.run({ kind: 'busy' });
    answer(decide('upgrade'), hot(100));
    kit.setNow(1000);
    inbox.add(5);
    kit.run({ kind: 'busy' });
    answer(decide('upgrade'), hot(80), { rpc: 'b', table: '2', qps: 8 });
    kit.setNow(4500);
    decide('downgrade');
    kit.run({ kind: 'configure', config: { ...CONFIG, enabled: false } });
    const pair = { rpc: 'a', table: '1' };
    expect(
      events.flatMap((event) => ('moves' in event ? [[event.reason, event.moves]] : [])),
    ).toEqual([
      [{ kind: 'busy', count: 7, overMs: 2000 }, [{ ...pair, before: null, after: 50, qps: 100 }]],
      [
        { kind: 'busy', count: 12, overMs: 2000 },
        [
          { ...pair, before: 50, after: 25, qps: 80 },
          { rpc: 'b', table: '2', before: null, after: 4, qps: 8 },
        ],
      ],
      [
        { kind: 'quiet', forMs: 3500 },
        [
          { ...pair, before: 25, after: 50, qps: null },
          { rpc: 'b', table: '2', before: 4, after: null, qps: null },
        ],
      ],
      [{ kind: 'switched-off' }, [{ ...pair, before: 50, after: null, qps: null }]],
    ]);
  });

  it('counts BUSY over the interval between upgrades, of late only', () => {
    const { kit, events, inbox, decide, answer } = createKit();
    const busyAt = (ms: number, n: number): void => {
      kit.setNow(ms);
      inbox.add(n);
      kit.run({ kind: 'busy' });
    };
    busyAt(0, 100);
    busyAt(5000, 3);
    answer(decide('upgrade'));
    kit.run({ kind: 'configure', config: { ...CONFIG, upgradeIntervalMs: 500 } });
    busyAt(5100, 4);
    answer(decide('upgrade'));
    expect(events.flatMap((event) => ('reason' in event ? event.reason : []))).toEqual([
      { kind: 'busy', count: 3, overMs: 2000 },
      { kind: 'busy', count: 4, overMs: 500 },
    ]);
  });

  it('keeps the reason of a decision that has to wait', () => {
    const { kit, events, inbox, decide, answer } = createKit();
    answer(decide('upgrade'), hot(100));
    const asked = decide('upgrade');
    kit.setNow(3000);
    decide('downgrade');
    inbox.add(1);
    kit.run({ kind: 'busy' });
    answer(asked, hot(50));
    expect(events.at(-1)).toMatchObject({
      kind: 'downgrade',
      reason: { kind: 'quiet', forMs: 3000 },
    });
  });
});
