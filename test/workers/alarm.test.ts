import { expect, it } from 'vitest';
import { Alarm } from '../../src/workers/alarm.js';
import { createVirtualHost } from './virtual-host.js';

function alarmOn(host = createVirtualHost()) {
  const rings: number[] = [];
  return { host, rings, alarm: new Alarm(host, () => rings.push(host.time.nowMs)) };
}

it('rings once, at its time', () => {
  const { host, rings, alarm } = alarmOn();
  alarm.set(20e6);
  host.time.advanceTo(100);
  expect(rings).toEqual([20]);
  expect(host.time.pendingTimers).toBe(0);
});

it('never rings before its time, though timers do', () => {
  const { host, rings, alarm } = alarmOn(createVirtualHost({ earlyMs: 0.9 }));
  alarm.set(20.5e6);
  host.time.advanceTo(20.4);
  expect(rings).toEqual([]);
  host.time.advanceTo(100);
  expect(rings).toHaveLength(1);
  expect(rings[0]).toBeGreaterThanOrEqual(20.5);
  expect(rings[0]).toBeLessThan(22);
});

it('waits for longer than any timer can', () => {
  const { host, rings, alarm } = alarmOn();
  const days = 60 * 86_400_000;
  alarm.set(days * 1e6);
  host.time.advanceTo(days - 1);
  expect(rings).toEqual([]);
  host.time.advanceTo(days);
  expect(rings).toEqual([days]);
});

it('is set anew, and cleared, without a trace', () => {
  const { host, rings, alarm } = alarmOn();
  alarm.set(20e6);
  alarm.set(50e6);
  host.time.advanceTo(49);
  expect(rings).toEqual([]);
  alarm.clear();
  alarm.set(Number.POSITIVE_INFINITY);
  expect(host.time.pendingTimers).toBe(0);
  host.time.advanceTo(100);
  expect(rings).toEqual([]);
});

it('rings soon when its time is over', () => {
  const { host, rings, alarm } = alarmOn();
  host.time.advanceTo(100);
  alarm.set(20e6);
  host.time.advanceTo(101);
  expect(rings).toEqual([101]);
});
