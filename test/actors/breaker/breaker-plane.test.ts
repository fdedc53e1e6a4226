import { describe, expect, it } from 'vitest';
import type { BreakerConfig } from '../../../src/actors/breaker/breaker-config.js';
import type { BreakerEvent } from '../../../src/actors/breaker/breaker-event.js';
import { startBreakerPlane } from '../../../src/actors/breaker/breaker-plane.js';
import { createTestSystem } from '../../../src/testing/test-system.js';
import { paramsOf } from '../../shared/breaker/breaker-params.js';
import { FakeCircuits } from './fake-circuits.js';

const CONFIG: BreakerConfig = {
  ...paramsOf(),
  enabled: true,
  maxAddresses: 3,
  idleMs: 4000,
};

function start(
  circuits = new FakeCircuits(),
  onEvent: (event: BreakerEvent) => void = () => undefined,
) {
  const test = createTestSystem();
  const events: BreakerEvent[] = [];
  const totals: { probesLost: number; evicted: number }[] = [];
  const plane = startBreakerPlane({
    system: test.system,
    circuits,
    config: CONFIG,
    totals: { probesLost: 10, evicted: 20 },
    onEvent: (event) => {
      events.push(event);
      onEvent(event);
    },
    onTotals: ({ probesLost, evicted }) => totals.push({ probesLost, evicted }),
  });
  test.time.settle();
  const told = (): string[] =>
    events
      .splice(0)
      .map((event) =>
        'reason' in event
          ? `${event.kind} ${event.address} ${event.reason}`
          : `${event.kind} ${event.address}`,
      );
  return { ...test, circuits, plane, events, told, totals };
}

describe('the breaker plane', () => {
  it('sets no timer and looks at no circuit as long as every address is healthy', () => {
    const { time, circuits, plane } = start();
    for (let i = 0; i < 1000; i += 1) {
      time.advanceTo(i * 1000);
      plane.look();
    }
    expect(time.pendingTimers).toBe(0);
    expect(circuits.calls).toEqual([]);
  });

  it('says what threads report, in order', () => {
    const { time, plane, events } = start();
    const opened = { failures: 3, retryAfterMs: 1000, atMs: 5 };
    plane.report({ kind: 'opened', address: 'a:1', reason: 'failures', ...opened });
    plane.report({ kind: 'half-open', address: 'a:1', atMs: 1005 });
    plane.report({ kind: 'closed', address: 'a:1', reason: 'probed', atMs: 1006 });
    time.settle();
    expect(events).toEqual([
      { kind: 'circuit-open', address: 'a:1', reason: 'failures', ...opened },
      { kind: 'circuit-half-open', address: 'a:1', atMs: 1005 },
      { kind: 'circuit-closed', address: 'a:1', reason: 'probed', atMs: 1006 },
    ]);
  });

  it('sweeps while any circuit is kept, and rests when none is', () => {
    const { time, circuits, plane, told } = start();
    circuits.put('a:1', { open: true, touchedAtMs: 0 });
    plane.report({ kind: 'tracked' });
    time.advanceTo(3999);
    expect(circuits.calls).toEqual(['sweep at 1000', 'sweep at 2000', 'sweep at 3000']);
    expect(told()).toEqual([]);
    time.advanceTo(10_000);
    expect(told()).toEqual(['circuit-closed a:1 idle']);
    expect(time.pendingTimers).toBe(0);
  });

  it('says nothing of a closed circuit that is forgotten', () => {
    const { time, circuits, plane, told } = start();
    circuits.put('a:1', { open: false, touchedAtMs: 0 });
    plane.report({ kind: 'tracked' });
    time.advanceTo(10_000);
    expect(circuits.size()).toBe(0);
    expect(told()).toEqual([]);
  });

  it('makes room at once, but not more often than it can afford', () => {
    const { time, circuits, plane, told, totals } = start();
    const flood = (from: number, to: number): void => {
      for (let i = from; i < to; i += 1) circuits.put(`${i}:1`, { open: true, touchedAtMs: i });
      plane.report({ kind: 'tracked' });
      time.settle();
    };
    time.advanceTo(100);
    flood(0, 5);
    expect(circuits.size()).toBe(3);
    expect(told()).toEqual(['circuit-closed 0:1 evicted', 'circuit-closed 1:1 evicted']);
    flood(5, 7);
    flood(7, 9);
    expect(circuits.size()).toBe(7);
    time.advanceTo(110);
    expect(circuits.size()).toBe(3);
    expect(circuits.calls.filter((call) => call.startsWith('makeRoom'))).toHaveLength(2);
    expect(totals).toEqual([
      { probesLost: 10, evicted: 22 },
      { probesLost: 10, evicted: 26 },
    ]);
  });

  it('gives up a probe at its deadline, and says so', () => {
    const { time, circuits, plane, told, totals } = start();
    circuits.put('a:1', { open: true, touchedAtMs: 0, probe: { owner: 1, atMs: 100 } });
    time.advanceTo(100);
    plane.report({ kind: 'half-open', address: 'a:1', atMs: 100 });
    time.advanceTo(599);
    expect(told()).toEqual(['circuit-half-open a:1']);
    time.advanceTo(600);
    expect(told()).toEqual(['circuit-open a:1 probe-lost']);
    expect(totals).toEqual([{ probesLost: 11, evicted: 20 }]);
  });

  it('waits for the next probe after one that has answered', () => {
    const { time, circuits, plane, told } = start();
    circuits.put('a:1', { open: true, touchedAtMs: 0, probe: { owner: 1, atMs: 0 } });
    circuits.put('b:1', { open: true, touchedAtMs: 0, probe: { owner: 1, atMs: 200 } });
    plane.report({ kind: 'half-open', address: 'a:1', atMs: 0 });
    plane.report({ kind: 'half-open', address: 'b:1', atMs: 200 });
    circuits.put('a:1', { open: false, touchedAtMs: 0 });
    time.advanceTo(699);
    told();
    time.advanceTo(700);
    expect(told()).toEqual(['circuit-open b:1 probe-lost']);
    expect(circuits.calls.filter((call) => call.startsWith('release'))).toEqual([
      'releaseOverdue at 500',
      'releaseOverdue at 700',
    ]);
  });

  it('gives up the probes of a thread that has ended before it returns', () => {
    const { time, circuits, plane, told } = start();
    circuits.put('a:1', { open: true, touchedAtMs: 0, probe: { owner: 1, atMs: 0 } });
    circuits.put('b:1', { open: true, touchedAtMs: 0, probe: { owner: 2, atMs: 0 } });
    plane.threadEnded(1);
    expect(circuits.circuits.get('a:1')?.probe).toBeUndefined();
    expect(circuits.circuits.get('b:1')?.probe).toBeDefined();
    time.settle();
    expect(told()).toEqual(['circuit-open a:1 probe-lost']);
  });

  it('finds circuits whose report was lost at the next look', () => {
    const { time, circuits, plane, told } = start();
    time.advanceTo(1000);
    circuits.put('a:1', { open: true, touchedAtMs: 1000, probe: { owner: 1, atMs: 1000 } });
    plane.look();
    time.advanceTo(1500);
    expect(told()).toEqual(['circuit-open a:1 probe-lost']);
    time.advanceTo(9000);
    expect(circuits.size()).toBe(0);
  });

  it('looks after what a predecessor has left', () => {
    const circuits = new FakeCircuits();
    circuits.put('a:1', { open: true, touchedAtMs: 0, probe: { owner: 1, atMs: 0 } });
    const { time, told } = start(circuits);
    time.advanceTo(5000);
    expect(told()).toEqual(['circuit-open a:1 probe-lost', 'circuit-closed a:1 idle']);
  });

  it('goes by a changed configuration at once', () => {
    const { time, circuits, plane, told } = start();
    for (let i = 0; i < 3; i += 1) circuits.put(`${i}:1`, { open: true, touchedAtMs: 0 });
    plane.report({ kind: 'tracked' });
    time.settle();
    plane.configure({ ...CONFIG, maxAddresses: 1, idleMs: 400 });
    time.settle();
    expect(circuits.size()).toBe(1);
    told();
    time.advanceTo(400);
    expect(told()).toEqual(['circuit-closed 2:1 idle']);
    plane.configure({ ...CONFIG, windowMs: 1 });
    time.settle();
    expect(circuits.calls).toContain('clearWindows');
  });

  it('forgets everything when it is switched off', () => {
    const { time, circuits, plane, told } = start();
    circuits.put('a:1', { open: true, touchedAtMs: 0 });
    circuits.put('b:1', { open: false, touchedAtMs: 0 });
    plane.configure({ ...CONFIG, enabled: false });
    time.settle();
    expect(circuits.size()).toBe(0);
    expect(told()).toEqual(['circuit-closed a:1 off']);
  });

  it('is not harmed by a listener that throws', () => {
    const { time, plane, told, system } = start(new FakeCircuits(), () => {
      throw new Error('a bad listener');
    });
    plane.report({ kind: 'half-open', address: 'a:1', atMs: 0 });
    time.settle();
    plane.report({ kind: 'half-open', address: 'a:1', atMs: 0 });
    time.settle();
    expect(told()).toEqual(['circuit-half-open a:1', 'circuit-half-open a:1']);
    expect(system.stats().failures).toBe(0);
  });

  it('keeps a bounded number of reports, the newest', () => {
    const { time, plane, events } = start();
    for (let i = 0; i < 40_000; i += 1)
      plane.report({ kind: 'half-open', address: 'a:1', atMs: i });
    time.settle();
    expect(events.length).toBeLessThanOrEqual(16_384);
    expect(events.at(-1)).toMatchObject({ atMs: 39_999 });
  });

  it('leaves circuits as they are when it stops', () => {
    const { time, circuits, plane } = start();
    circuits.put('a:1', { open: true, touchedAtMs: 0 });
    plane.report({ kind: 'tracked' });
    time.settle();
    plane.stop();
    time.advanceTo(100_000);
    expect(circuits.size()).toBe(1);
    expect(time.pendingTimers).toBe(0);
  });
});
