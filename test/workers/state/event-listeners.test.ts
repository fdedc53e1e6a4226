import { describe, expect, it, vi } from 'vitest';
import { EventListeners } from '../../../src/workers/state/event-listeners.js';

const change = (version: number) => ({ name: 'config', event: { version } }) as const;

describe('the listeners of events', () => {
  it('hear the events that they listen to, in the order in which they came', () => {
    const listeners = new EventListeners();
    const heard: string[] = [];
    listeners.add('config', ({ version }) => heard.push(`a${version}`), false);
    listeners.add('config', ({ version }) => heard.push(`b${version}`), false);
    listeners.add('closed', () => heard.push('closed'), false);
    listeners.tell(change(2));
    listeners.tell(change(3));
    expect(heard).toEqual(['a2', 'b2', 'a3', 'b3']);
  });

  it('hear once what they listen to once, also when they cause the next one themselves', () => {
    const listeners = new EventListeners();
    const heard: number[] = [];
    listeners.add(
      'config',
      ({ version }) => {
        heard.push(version);
        listeners.tell(change(version + 1));
      },
      true,
    );
    listeners.tell(change(1));
    expect(heard).toEqual([1]);
  });

  it('are called as often as they were added, and leave one by one', () => {
    const listeners = new EventListeners();
    let calls = 0;
    const listener = (): void => void calls++;
    listeners.add('config', listener, false);
    listeners.add('config', listener, false);
    listeners.tell(change(1));
    listeners.remove('config', listener);
    listeners.tell(change(2));
    listeners.remove('config', listener);
    listeners.remove('config', listener);
    listeners.tell(change(3));
    expect(calls).toBe(3);
  });

  it('that come or go during an event change nothing about that event', () => {
    const listeners = new EventListeners();
    const heard: string[] = [];
    const second = (): void => void heard.push('second');
    listeners.add(
      'config',
      () => {
        listeners.remove('config', second);
        listeners.add('config', () => heard.push('third'), false);
      },
      true,
    );
    listeners.add('config', second, false);
    listeners.tell(change(1));
    expect(heard).toEqual(['second']);
    listeners.tell(change(2));
    expect(heard).toEqual(['second', 'third']);
  });

  it('that throw are uncaught in a turn of their own, and hide nothing from the others', () => {
    vi.useFakeTimers({ toFake: ['setImmediate'] });
    try {
      const listeners = new EventListeners();
      const heard: number[] = [];
      listeners.add(
        'config',
        () => {
          throw new Error('mine');
        },
        true,
      );
      listeners.add('config', ({ version }) => heard.push(version), false);
      listeners.tell(change(1));
      expect(heard).toEqual([1]);
      expect(() => vi.runAllTimers()).toThrow('mine');
    } finally {
      vi.useRealTimers();
    }
  });

  it('are refused for a name that no event has, or if they are no function', () => {
    const listeners = new EventListeners();
    const rule = /^name must be one of upgrade, downgrade, .*closed, got 'upgarde'$/;
    expect(() => listeners.add('upgarde' as never, () => {}, false)).toThrow(rule);
    expect(() => listeners.remove('upgarde' as never, () => {})).toThrow(rule);
    expect(() => listeners.add('toString' as never, () => {}, false)).toThrow(TypeError);
    expect(() => listeners.add('config', 'x' as never, false)).toThrow(
      "listener must be a function, got 'x'",
    );
  });
});
