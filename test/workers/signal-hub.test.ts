import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createSignalHub } from '../../src/workers/signal-hub.js';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('signal hub', () => {
  it('keeps one listener for any number of waiters, and none when nobody waits', () => {
    const hub = createSignalHub();
    const { signal } = new AbortController();
    const leave = Array.from({ length: 1000 }, () => hub.watch(signal, () => undefined));
    expect(listeners(signal)).toBe(1);
    for (const unwatch of leave) unwatch();
    expect(listeners(signal)).toBe(0);
  });

  it('leaves no listener behind after 100,000 watches one after the other', () => {
    const hub = createSignalHub();
    const { signal } = new AbortController();
    for (let i = 0; i < 100_000; i++) hub.watch(signal, () => undefined)();
    expect(listeners(signal)).toBe(0);
  });

  it('tells every waiter once, in the order in which they came', () => {
    const hub = createSignalHub();
    const controller = new AbortController();
    const told: number[] = [];
    for (const i of [1, 2, 3]) hub.watch(controller.signal, () => told.push(i));
    controller.abort();
    controller.abort();
    expect(told).toEqual([1, 2, 3]);
    expect(listeners(controller.signal)).toBe(0);
  });

  it('does not tell who has left, also during the abort', () => {
    const hub = createSignalHub();
    const controller = new AbortController();
    const told: string[] = [];
    const leaveSecond: (() => void)[] = [];
    hub.watch(controller.signal, () => {
      told.push('first');
      for (const leave of leaveSecond) leave();
    });
    leaveSecond.push(hub.watch(controller.signal, () => told.push('second')));
    hub.watch(controller.signal, () => told.push('left'))();
    controller.abort();
    expect(told).toEqual(['first']);
  });

  it('keeps the same callback apart when it waits twice, and leaving twice apart from leaving once', () => {
    const hub = createSignalHub();
    const controller = new AbortController();
    let told = 0;
    const onAbort = (): void => {
      told += 1;
    };
    const leave = hub.watch(controller.signal, onAbort);
    hub.watch(controller.signal, onAbort);
    leave();
    leave();
    expect(listeners(controller.signal)).toBe(1);
    controller.abort();
    expect(told).toBe(1);
  });

  it('watches a signal anew after all have left', () => {
    const hub = createSignalHub();
    const controller = new AbortController();
    const leaveLate = hub.watch(controller.signal, () => undefined);
    leaveLate();
    let told = 0;
    hub.watch(controller.signal, () => {
      told += 1;
    });
    // Who left before the newcomer came does not take its listener away.
    leaveLate();
    expect(listeners(controller.signal)).toBe(1);
    controller.abort();
    expect(told).toBe(1);
  });

  it('keeps signals apart', () => {
    const hub = createSignalHub();
    const [a, b] = [new AbortController(), new AbortController()];
    const told: string[] = [];
    hub.watch(a.signal, () => told.push('a'));
    hub.watch(b.signal, () => told.push('b'));
    a.abort();
    expect(told).toEqual(['a']);
    expect([listeners(a.signal), listeners(b.signal)]).toEqual([0, 1]);
  });
});
