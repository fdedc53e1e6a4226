import { describe, expect, it } from 'vitest';
import type { AnyActorRef } from '../../../src/actors/core/actor-ref.js';
import { createActorSystem } from '../../../src/actors/core/actor-system.js';
import type { ActorContext, Behavior } from '../../../src/actors/core/behavior.js';
import { IllegalStateError } from '../../../src/shared/errors.js';
import { createTestSystem } from '../../../src/testing/test-system.js';
import { countingBehavior } from './counting-behavior.js';

describe('an actor', () => {
  it('handles messages one after another, in the order that they were sent', () => {
    const { system, time } = createTestSystem();
    const seen: number[] = [];
    const ref = system.spawn<undefined, number>(
      {
        initialState: () => undefined,
        receive: (state, n) => {
          seen.push(n);
          return state;
        },
      },
      { name: 'list' },
    );
    for (let n = 0; n < 1000; n += 1) system.tell(ref, n);
    time.settle();
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, n) => n));
  });

  it('runs nothing inside of a tell: effects wait for their turn', () => {
    const { system, time, probe } = createTestSystem();
    const ref = system.spawn(countingBehavior(), { name: 'sum' });
    const reader = probe<number>();
    system.tell(ref, { kind: 'add', n: 2 });
    system.tell(ref, { kind: 'read', replyTo: reader.ref });
    expect(time.pendingTimers).toBe(0);
    reader.expectMessage(2);
  });

  it('sees started before its first message and stopped after its last', () => {
    const { system, time } = createTestSystem();
    const log: string[] = [];
    const ref = system.spawn(countingBehavior(log), { name: 'sum' });
    system.tell(ref, { kind: 'add', n: 5 });
    system.tell(ref, { kind: 'stop' });
    time.settle();
    expect(log).toEqual(['started at 0', 'stopped at 5']);
    expect(system.stats().actors).toBe(0);
  });

  it('ends after its children, youngest first, and its parent is told', () => {
    const { system, time } = createTestSystem();
    const log: string[] = [];
    const child = (name: string): Behavior<undefined, never> => ({
      initialState: () => undefined,
      receive: (state) => state,
      onSignal: (state, { kind }) => {
        log.push(`${name} ${kind}`);
        return state;
      },
    });
    const parent = system.spawn<undefined, 'stop'>(
      {
        initialState: () => undefined,
        receive: (state, _message, context) => {
          context.stop();
          return state;
        },
        onSignal: (state, signal, context) => {
          if (signal.kind === 'started') {
            context.spawn(child('elder'), { name: 'elder' });
            context.spawn(child('younger'), { name: 'younger' });
          }
          log.push(`parent ${signal.kind}`);
          return state;
        },
      },
      { name: 'parent' },
    );
    time.settle();
    system.tell(parent, 'stop');
    time.settle();
    expect(log).toEqual([
      'parent started',
      'elder started',
      'younger started',
      'younger stopped',
      'elder stopped',
      'parent stopped',
    ]);
  });

  it('is told when a child or a watched actor has ended, and how', () => {
    const { system, probe } = createTestSystem();
    const watcher = probe<never>();
    const calm = system.spawn(countingBehavior(), { name: 'calm' });
    const rash = system.spawn(countingBehavior(), {
      name: 'rash',
      supervision: { onFailure: 'stop' },
    });
    watcher.watch(calm);
    watcher.watch(rash);
    system.tell(calm, { kind: 'stop' });
    const error = new Error('boom');
    system.tell(rash, { kind: 'fail', error });
    expect(watcher.expectTerminated(calm)).toMatchObject({ reason: 'stopped' });
    expect(watcher.expectTerminated(rash)).toMatchObject({ reason: 'failed', error });
  });

  it('is told at once when it watches an actor that has ended', () => {
    const { system, time, probe } = createTestSystem();
    const ref = system.spawn(countingBehavior(), { name: 'brief' });
    system.tell(ref, { kind: 'stop' });
    time.settle();
    const watcher = probe<never>();
    watcher.watch(ref);
    expect(watcher.expectTerminated(ref).reason).toBe('stopped');
  });

  it('is not told of an actor that it watches no more', () => {
    const { system, time } = createTestSystem();
    const ended: string[] = [];
    const watched = system.spawn(countingBehavior(), { name: 'watched' });
    const watcher = system.spawn<undefined, 'watch' | 'unwatch'>(
      {
        initialState: () => undefined,
        receive: (state, verb, context) => {
          context[verb](watched);
          return state;
        },
        onSignal: (state, signal) => {
          if (signal.kind === 'terminated') ended.push(signal.ref.path);
          return state;
        },
      },
      { name: 'watcher' },
    );
    system.tell(watcher, 'watch');
    system.tell(watcher, 'unwatch');
    time.settle();
    system.tell(watched, { kind: 'stop' });
    time.settle();
    expect(ended).toEqual([]);
  });

  it('stops a child, which handles the messages of its present turn no further', () => {
    const { system, time } = createTestSystem();
    const log: string[] = [];
    const parent = system.spawn<{ child: AnyActorRef | undefined }, 'stop child'>(
      {
        initialState: () => ({ child: undefined }),
        receive: (state, _message, context) => {
          context.stop(state.child);
          return state;
        },
        onSignal: (state, signal, context) => {
          if (signal.kind === 'terminated') log.push('child ended');
          if (signal.kind !== 'started') return state;
          return { child: context.spawn(countingBehavior(log), { name: 'child' }) };
        },
      },
      { name: 'parent' },
    );
    system.tell(parent, 'stop child');
    time.settle();
    expect(log).toEqual(['started at 0', 'stopped at 0', 'child ended']);
  });

  it('must not stop an actor that is not its child', () => {
    const { system, time } = createTestSystem();
    const stranger = system.spawn(countingBehavior(), { name: 'stranger' });
    const errors: unknown[] = [];
    system.failures.subscribe(({ error }) => errors.push(error));
    const meddler = system.spawn<undefined, 'meddle'>(
      {
        initialState: () => undefined,
        receive: (state, _message, context) => {
          context.stop(stranger);
          return state;
        },
      },
      { name: 'meddler' },
    );
    system.tell(meddler, 'meddle');
    time.settle();
    expect(errors).toEqual([expect.any(IllegalStateError)]);
    expect(system.tell(stranger, { kind: 'add', n: 1 })).toBe('accepted');
  });

  it('has no more effects once it has stopped, except to send', () => {
    const { system, time, probe } = createTestSystem();
    const other = probe<string>();
    let leaked: ActorContext<'stop'> | undefined;
    const ref = system.spawn<undefined, 'stop'>(
      {
        initialState: () => undefined,
        receive: (state, _message, context) => {
          leaked = context;
          context.stop();
          return state;
        },
      },
      { name: 'leaky' },
    );
    system.tell(ref, 'stop');
    time.settle();
    const context = leaked as ActorContext<'stop'>;
    expect(() => context.after(1, 'stop')).toThrow(IllegalStateError);
    expect(() => context.every(1, 'stop')).toThrow(IllegalStateError);
    expect(() => context.watch(other.ref)).toThrow(IllegalStateError);
    expect(() => context.spawn(countingBehavior(), { name: 'late' })).toThrow(IllegalStateError);
    context.tell(other.ref, 'from the grave');
    other.expectMessage('from the grave');
    expect(system.stats()).toMatchObject({ timers: 0, asks: 0 });
  });

  it('has a path of its own for all time, whatever its name', () => {
    const { system } = createTestSystem();
    const first = system.spawn(countingBehavior(), { name: 'twin' });
    const second = system.spawn(countingBehavior(), { name: 'twin' });
    expect(first.path).toMatch(/^\/twin#\d+$/);
    expect(second.path).not.toBe(first.path);
  });

  it('is refused a name that would break its path', () => {
    const { system } = createTestSystem();
    expect(() => system.spawn(countingBehavior(), { name: 'a/b' })).toThrow(
      "name must consist of letters, digits, '-', '_' and '.', got a/b",
    );
  });
});

describe('the clock of a system', () => {
  it('never goes back and ignores what is no number', () => {
    const readings = [5, 3, Number.NaN, Number.POSITIVE_INFINITY, 8];
    const seen: number[] = [];
    const system = createActorSystem({
      clock: () => readings.shift() ?? 8,
      schedule: (run) => run(),
      timerDriver: { arm: () => {}, disarm: () => {} },
    });
    const ref = system.spawn<undefined, 'look'>(
      {
        initialState: () => undefined,
        receive: (state, _message, context) => {
          seen.push(context.nowMs());
          return state;
        },
      },
      { name: 'watcher' },
    );
    for (let i = 0; i < 5; i += 1) system.tell(ref, 'look');
    expect(seen).toEqual([5, 5, 5, 5, 8]);
  });
});

describe('options of a system', () => {
  it.each([0, 1.5, Number.NaN])('a batch of %s is refused', (batch) => {
    expect(() => createTestSystem({ batch })).toThrow(RangeError);
    expect(() => createTestSystem({ runBudget: batch })).toThrow(
      /runBudget must be an integer >= 1/,
    );
  });
});
