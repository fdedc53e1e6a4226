import { describe, expect, it } from 'vitest';
import {
  createMetricsBehavior,
  type ThrottleMetrics,
} from '../../../src/actors/metrics/metrics-actor.js';
import { createTestSystem } from '../../../src/testing/test-system.js';

describe('the metrics actor', () => {
  it('reports totals, and what the last 60 seconds brought', () => {
    const { system, time, probe } = createTestSystem();
    const reader = probe<ThrottleMetrics>();
    const metrics = system.spawn(createMetricsBehavior(), { name: 'metrics' });
    system.tell(metrics, { kind: 'count', counter: 'busy', n: 40 });
    system.tell(metrics, { kind: 'count', counter: 'upgrades', n: 1 });
    time.advanceTo(61_000);
    system.tell(metrics, { kind: 'count', counter: 'downgrades', n: 1 });
    system.tell(metrics, { kind: 'report', replyTo: reader.ref });
    reader.expectMessage({
      upgrades: 1,
      downgrades: 1,
      busy: 40,
      upgrades60s: 0,
      downgrades60s: 1,
      busy60s: 0,
    });
  });

  it('goes on from the totals of a predecessor', () => {
    const { system, probe } = createTestSystem();
    const reader = probe<ThrottleMetrics>();
    const totals = { upgrades: 3, downgrades: 2, busy: 500 };
    const metrics = system.spawn(createMetricsBehavior({ totals }), { name: 'metrics' });
    system.tell(metrics, { kind: 'count', counter: 'busy', n: 1 });
    system.tell(metrics, { kind: 'report', replyTo: reader.ref });
    expect(reader.expectMessage()).toMatchObject({ upgrades: 3, busy: 501, busy60s: 1 });
  });

  it('publishes while a window moves, at most once a second, and then falls silent', () => {
    const { system, time } = createTestSystem();
    const published: ThrottleMetrics[] = [];
    const metrics = system.spawn(createMetricsBehavior({ publish: (one) => published.push(one) }), {
      name: 'metrics',
    });
    time.settle();
    expect(time.pendingTimers).toBe(0);
    for (let i = 0; i < 50; i += 1) {
      system.tell(metrics, { kind: 'count', counter: 'busy', n: 1 });
      time.advanceBy(10);
    }
    time.advanceToQuiescence();
    expect(published.length).toBeGreaterThan(55);
    expect(published.length).toBeLessThan(65);
    expect(published[0]).toMatchObject({ busy: 50, busy60s: 50 });
    expect(published.at(-1)).toMatchObject({ busy: 50, busy60s: 0 });
    expect(time.nowMs).toBeLessThan(65_000);
  });
});
