import { describe, expect, it } from 'vitest';
import { ActorStoppedError } from '../../src/shared/errors.js';
import { CONFIG, startPlane } from './control-plane-under-test.js';
import { MemoryLimits } from './throttle/memory-limits.js';
import { MemoryPairs } from './throttle/memory-pairs.js';

describe('BUSY', () => {
  it('slows the hottest pairs of each load-related type, and nobody else', () => {
    const { load, busy, limits } = startPlane();
    load(1000, { 'a/1': 100, 'a/2': 80, 'a/3': 60, 'b/9': 40 });
    busy();
    expect(limits.shown).toEqual(['a/1: 50', 'a/2: 40', 'b/9: 20']);
  });

  it('many at once are one signal, and all of them are counted', async () => {
    const { load, busy, limits, plane, time } = startPlane();
    load(1000, { 'a/1': 100 });
    busy(250);
    plane.busy(1);
    plane.busy(7);
    time.settle();
    expect(limits.shown).toEqual(['a/1: 50']);
    const snapshot = plane.snapshot();
    time.settle();
    expect((await snapshot).metrics).toMatchObject({ busy: 258, busy60s: 258, upgrades: 1 });
  });

  it.each([0, -1, 1.5, Number.NaN])('a count of %s is refused', (count) => {
    const { plane } = startPlane();
    expect(() => plane.busy(count)).toThrow(`count must be an integer >= 1, got ${count}`);
  });

  it('at any rate never fills a mailbox', () => {
    const { plane, system, time } = startPlane();
    for (let i = 0; i < 100_000; i += 1) plane.busy(1);
    time.settle();
    expect(system.stats().deadLetters).toMatchObject({ rejected: 0, 'dropped-newest': 0 });
  });

  it('without traffic is an upgrade that limits nothing; its cooldown runs all the same', () => {
    const { busy, events, time, histories } = startPlane();
    busy();
    time.advanceTo(1999);
    busy();
    expect(events.filter(({ kind }) => kind === 'upgrade')).toEqual([
      {
        kind: 'upgrade',
        level: 0,
        actions: [],
        moves: [],
        reason: { kind: 'busy', count: 1, overMs: 2000 },
        atMs: 0,
      },
    ]);
    expect(histories).toEqual([]);
    time.advanceTo(2000);
    busy();
    expect(events.filter(({ kind }) => kind === 'upgrade')).toHaveLength(2);
  });
});

describe('recovery', () => {
  it('releases the levels in reverse order, one per quiet time, and then rests', () => {
    const { load, busy, limits, events, time } = startPlane();
    load(1000, { 'a/1': 100 });
    busy();
    load(3900, { 'a/1': 50, 'a/2': 300 });
    busy();
    expect(limits.shown).toEqual(['a/1: 25', 'a/2: 150']);
    time.advanceTo(6900);
    expect(limits.shown).toEqual(['a/1: 50']);
    time.advanceTo(9900);
    expect(limits.shown).toEqual([]);
    expect(events.map(({ kind, level, atMs }) => [kind, level, atMs])).toEqual([
      ['restored', 0, 0],
      ['upgrade', 1, 1000],
      ['upgrade', 2, 3900],
      ['downgrade', 1, 6900],
      ['downgrade', 0, 9900],
    ]);
  });

  it('after a stall of the thread undoes one level, not all that it has slept through', () => {
    const { load, busy, events, time } = startPlane({
      config: { ...CONFIG, upgradeIntervalMs: 0 },
    });
    load(1000, { 'a/1': 100 });
    for (let i = 0; i < 5; i += 1) busy();
    time.stallTo(60_000);
    expect(events.at(-1)).toMatchObject({ kind: 'downgrade', level: 4, atMs: 60_000 });
    time.advanceTo(62_999);
    expect(events.at(-1)).toMatchObject({ level: 4 });
    time.advanceTo(63_000);
    expect(events.at(-1)).toMatchObject({ level: 3 });
  });
});

describe('an idle system', () => {
  it('wakes for its samples alone: no ticks while there is nothing to relax', () => {
    const { pairs, time } = startPlane();
    let wakeUps = 0;
    while (time.nowMs < 10_000) {
      time.advanceTo(time.nextDeadlineMs as number);
      wakeUps += 1;
    }
    expect(wakeUps).toBe(100);
    expect(pairs.visits).toBe(101);
  });

  it('that is switched off does not wake at all', () => {
    const { time, pairs } = startPlane({ config: { ...CONFIG, enabled: false } });
    time.advanceTo(60_000);
    expect(time.pendingTimers).toBe(0);
    expect(pairs.visits).toBe(0);
  });
});

describe('the switches', () => {
  it('off at run time: every limit is lifted, the history forgotten, BUSY ignored', () => {
    const { load, busy, plane, limits, events, histories, time } = startPlane();
    load(1000, { 'a/1': 100 });
    busy();
    plane.configure({ ...CONFIG, enabled: false });
    time.settle();
    expect(limits.shown).toEqual([]);
    expect(events.at(-1)).toMatchObject({
      kind: 'lifted',
      level: 0,
      actions: [{ type: 'remove_limit', rpc: 'a', table: '1' }],
    });
    expect(histories.at(-1)).toEqual([]);
    expect(time.pendingTimers).toBeLessThanOrEqual(1);
    load(5000, { 'a/1': 100 });
    busy();
    expect(limits.shown).toEqual([]);
  });

  it('on at run time: rates count from then on, and the first BUSY upgrades', () => {
    const { load, busy, plane, limits, time } = startPlane({
      config: { ...CONFIG, enabled: false },
    });
    load(5000, { 'a/1': 1000 });
    busy();
    plane.configure(CONFIG);
    time.settle();
    load(6500, { 'a/1': 40 });
    busy();
    expect(limits.shown).toEqual(['a/1: 20']);
  });

  it('a dry run decides and shows the same; that nobody waits is the gate’s part', () => {
    const { load, busy, limits, plane, time } = startPlane({
      config: { ...CONFIG, enabled: false, dryRun: true },
    });
    load(1000, { 'a/1': 100 });
    busy();
    expect(limits.shown).toEqual(['a/1: 50']);
    plane.configure({ ...CONFIG, dryRun: true });
    time.settle();
    plane.configure(CONFIG);
    time.settle();
    expect(limits.shown).toEqual(['a/1: 50']);
  });
});

describe('a change at run time', () => {
  it('of ratio, floor, k and types counts from the next upgrade; limits in force are relaxed all the same', () => {
    const { load, busy, plane, limits, time } = startPlane();
    load(1000, { 'a/1': 100, 'b/2': 100 });
    busy();
    plane.configure({ ...CONFIG, ratio: 0.1, floorQps: 8, topK: 1, rpcs: ['b'] });
    load(3900, { 'a/1': 100, 'b/2': 100, 'b/3': 20 });
    expect(limits.shown).toEqual(['a/1: 50', 'b/2: 50']);
    busy();
    expect(limits.shown).toEqual(['a/1: 50', 'b/2: 8']);
    time.advanceTo(10_000);
    expect(limits.shown).toEqual([]);
  });

  it.each([
    [{ ratio: Number.NaN }, 'ratio must be above 0 and at most 1, got NaN'],
    [{ ratio: 0 }, 'ratio must be above 0 and at most 1, got 0'],
    [{ ratio: 1.1 }, 'ratio must be above 0 and at most 1, got 1.1'],
    [{ floorQps: 0 }, 'floorQps must be a finite number > 0, got 0'],
    [{ floorQps: Number.POSITIVE_INFINITY }, 'floorQps must be a finite number > 0, got Infinity'],
    [{ topK: 1.5 }, 'topK must be an integer >= 0, got 1.5'],
    [{ topK: '2' }, 'topK must be an integer >= 0, got 2'],
    [{ upgradeIntervalMs: -1 }, 'upgradeIntervalMs must be a finite number >= 0, got -1'],
    [
      { downgradeIntervalMs: Number.NaN },
      'downgradeIntervalMs must be a finite number >= 0, got NaN',
    ],
    [{ enabled: 'yes' }, 'enabled must be a boolean, got yes'],
    [{ rpcs: 'a' }, 'rpcs must be an array of strings, got a'],
    [{ windowMs: 2000 }, 'windowMs cannot change from 1000, got 2000'],
  ])('to %o is refused and the old configuration stays', (change, message) => {
    const { plane, load, busy, limits } = startPlane();
    expect(() => plane.configure({ ...CONFIG, ...change } as typeof CONFIG)).toThrow(message);
    load(1000, { 'a/1': 100 });
    busy();
    expect(limits.shown).toEqual(['a/1: 50']);
  });

  it('leaves the object that it was given alone, and does not follow it', () => {
    const { plane, load, busy, limits } = startPlane();
    const rpcs = ['a'];
    plane.configure({ ...CONFIG, rpcs });
    rpcs.push('b');
    load(1000, { 'a/1': 100, 'b/1': 100 });
    busy();
    expect(limits.shown).toEqual(['a/1: 50']);
  });
});

describe('a successor after a crash', () => {
  function crashed(levels: number) {
    const first = startPlane({ config: { ...CONFIG, upgradeIntervalMs: 0 } });
    first.load(1000, { 'a/1': 160 });
    for (let i = 0; i < levels; i += 1) first.busy();
    return first;
  }

  it('finds the limits in force, changes none of them and relaxes them in the right order', () => {
    const { pairs, limits, histories } = crashed(3);
    expect(limits.shown).toEqual(['a/1: 20']);
    const before = limits.applied.length;
    const history = structuredClone(histories.at(-1) ?? []);
    const { time, events } = startPlane({ pairs, limits, restored: { history } });
    expect(limits.applied).toHaveLength(before);
    expect(events).toEqual([{ kind: 'restored', level: 3, unrecorded: 0, obsolete: 0, atMs: 0 }]);
    const seen: string[][] = [];
    for (const atMs of [2999, 3000, 6000, 9000]) {
      time.advanceTo(atMs);
      seen.push(limits.shown);
    }
    expect(seen).toEqual([['a/1: 20'], ['a/1: 40'], ['a/1: 80'], []]);
  });

  it('without any history relaxes what it finds as one level', () => {
    const { pairs, limits } = crashed(3);
    const { time, histories } = startPlane({ pairs, limits });
    expect(histories).toHaveLength(1);
    time.advanceTo(3000);
    expect(limits.shown).toEqual([]);
  });

  it('that is switched off lifts what it finds', () => {
    const { pairs, limits } = crashed(2);
    startPlane({ pairs, limits, config: { ...CONFIG, enabled: false } });
    expect(limits.shown).toEqual([]);
  });

  it('does not take old counters for a burst of calls', async () => {
    const { pairs, limits, histories } = crashed(1);
    const { plane, time } = startPlane({
      pairs,
      limits,
      restored: { history: histories[0] ?? [] },
    });
    time.advanceTo(1000);
    const snapshot = plane.snapshot();
    time.settle();
    expect((await snapshot).limits).toEqual([
      { rpc: 'a', table: '1', qpsLimit: 80, currentQps: 0 },
    ]);
  });
});

describe('a snapshot', () => {
  it('shows level, limits with present rates, changes per level and counters', async () => {
    const { load, busy, plane, time } = startPlane();
    load(1000, { 'a/1': 100, 'b/2': 60 });
    busy();
    load(3900, { 'a/1': 50 });
    busy();
    const snapshot = plane.snapshot();
    time.settle();
    expect(await snapshot).toEqual({
      atMs: 3900,
      active: true,
      dryRun: false,
      level: 2,
      limits: [
        { rpc: 'a', table: '1', qpsLimit: 25, currentQps: 50 },
        { rpc: 'b', table: '2', qpsLimit: 30, currentQps: 0 },
      ],
      changesPerLevel: [2, 1],
      metrics: {
        upgrades: 2,
        downgrades: 0,
        busy: 2,
        upgrades60s: 2,
        downgrades60s: 0,
        busy60s: 2,
      },
    });
  });

  it('rejects once the plane has stopped; limits stay in force', async () => {
    const { load, busy, plane, time, system, limits } = startPlane();
    load(1000, { 'a/1': 100 });
    busy();
    plane.stop();
    time.settle();
    await expect(plane.snapshot()).rejects.toBeInstanceOf(ActorStoppedError);
    expect(limits.shown).toEqual(['a/1: 50']);
    expect(system.stats()).toMatchObject({ actors: 0, timers: 0 });
    expect(time.pendingTimers).toBe(0);
    expect(() => plane.busy(1)).not.toThrow();
  });
});

describe('a port that throws', () => {
  it('where it only listens harms nothing', () => {
    let calls = 0;
    const fail = (): void => {
      calls += 1;
      throw new Error('bad listener');
    };
    const { load, busy, limits, time, system } = startPlane({
      onEvent: fail,
      onHistory: fail,
      onMetrics: fail,
    });
    load(1000, { 'a/1': 100 });
    busy();
    time.advanceTo(2000);
    expect(limits.shown).toEqual(['a/1: 50']);
    expect(calls).toBeGreaterThanOrEqual(4);
    expect(system.stats().failures).toBe(0);
  });

  it('where limits are set: the actor restarts from what is in force, and all is relaxed later', () => {
    const limits = new MemoryLimits();
    const { load, busy, time, system, events } = startPlane({ limits });
    load(1000, { 'a/1': 100, 'b/2': 100 });
    limits.failures = 1;
    busy();
    expect(system.stats().failures).toBe(1);
    expect(limits.shown).toEqual(['a/1: 50']);
    expect(events.at(-1)).toMatchObject({ kind: 'restored', level: 1, unrecorded: 1 });
    time.advanceTo(4000);
    expect(limits.shown).toEqual([]);
  });

  it('again and again is fatal: the owner of the thread is told', () => {
    const { load, busy, fatal, limits, time } = startPlane({
      config: { ...CONFIG, upgradeIntervalMs: 0 },
    });
    load(1000, { 'a/1': 100 });
    limits.failures = 100;
    for (let i = 0; i < 20; i += 1) {
      busy();
      load(time.nowMs + 300, { 'a/1': 100 });
    }
    expect(fatal).toHaveLength(1);
    expect(fatal[0]?.path).toMatch(/^\/throttle/);
  });

  it('where pairs are read: the registry restarts and samples again', () => {
    const pairs = new MemoryPairs();
    const visit = pairs.visit.bind(pairs);
    let failures = 0;
    pairs.visit = (visitor) => {
      if (failures > 0) {
        failures -= 1;
        throw new Error('no pairs now');
      }
      visit(visitor);
    };
    const { load, busy, limits, system } = startPlane({ pairs });
    load(500, { 'a/1': 100 });
    failures = 2;
    load(3000, { 'a/1': 100 });
    expect(system.stats().failures).toBe(2);
    busy();
    expect(limits.shown).toEqual(['a/1: 50']);
  });
});
