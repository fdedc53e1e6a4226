import { describe, expect, it } from 'vitest';
import type { ActorFailure } from '../../../src/actors/core/actor-failure.js';
import type { ActorRef } from '../../../src/actors/core/actor-ref.js';
import type { ActorSystem } from '../../../src/actors/core/actor-system.js';
import type { Behavior } from '../../../src/actors/core/behavior.js';
import type { Signal } from '../../../src/actors/core/signal.js';
import {
  resolveSupervision,
  type SupervisionOptions,
} from '../../../src/actors/core/supervision.js';
import { createTestSystem } from '../../../src/testing/test-system.js';
import { type CountMessage, countingBehavior } from './counting-behavior.js';

const boom = new Error('boom');

/** Spawns `child` with the given supervision; the parent logs what it is told. */
function parentOf<State, Message>(
  child: Behavior<State, Message>,
  supervision: SupervisionOptions,
  log: string[] = [],
): Behavior<ActorRef<Message> | undefined, Message> {
  return {
    initialState: () => undefined,
    receive: (ref, message, context) => {
      if (ref !== undefined) context.tell(ref, message);
      return ref;
    },
    onSignal: (ref, signal: Signal, context) => {
      log.push(`parent ${signal.kind}${signal.kind === 'terminated' ? ` ${signal.reason}` : ''}`);
      if (signal.kind !== 'started') return ref;
      return context.spawn(child, { name: 'child', supervision });
    },
  };
}

function failuresOf(system: ActorSystem): ActorFailure[] {
  const failures: ActorFailure[] = [];
  system.failures.subscribe((failure) => failures.push(failure));
  return failures;
}

describe('restart', () => {
  it('begins anew with a fresh state, keeps the mailbox and loses the message that failed', () => {
    const { system, probe } = createTestSystem();
    const log: string[] = [];
    const reader = probe<number>();
    const ref = system.spawn(countingBehavior(log), { name: 'sum' });
    system.tell(ref, { kind: 'add', n: 7 });
    system.tell(ref, { kind: 'fail', error: boom });
    system.tell(ref, { kind: 'add', n: 3 });
    system.tell(ref, { kind: 'read', replyTo: reader.ref });
    reader.expectMessage(3);
    expect(log).toEqual(['started at 0', 'pre-restart at 7', 'started at 0']);
  });

  it('ends the children, timers, asks and watches of the old incarnation', () => {
    const { system, time, probe } = createTestSystem();
    const silent = probe<unknown>();
    let starts = 0;
    const heard: string[] = [];
    const ref = system.spawn<undefined, string>(
      {
        initialState: () => undefined,
        receive: (state, message, context) => {
          heard.push(message);
          if (message === 'fail') {
            context.after(5, 'timer of the old');
            throw boom;
          }
          return state;
        },
        onSignal: (state, signal, context) => {
          if (signal.kind === 'terminated') heard.push(`end of ${signal.ref.path}`);
          if (signal.kind !== 'started') return state;
          starts += 1;
          if (starts > 1) return state;
          context.spawn(countingBehavior(), { name: 'child' });
          context.every(10, 'tick of the old');
          context.watch(silent.ref);
          context.ask(silent.ref, (replyTo) => replyTo, {
            timeoutMs: 20,
            onOutcome: () => 'outcome for the old',
          });
          return state;
        },
      },
      { name: 'restarted' },
    );
    time.settle();
    system.tell(ref, 'fail');
    time.advanceBy(100);
    system.stopActor(silent.ref);
    time.settle();
    expect(heard).toEqual(['fail']);
    expect(system.stats()).toMatchObject({ actors: 1, timers: 0, asks: 0 });
  });

  it('also follows a failure in a signal, in the first state and in an ask outcome', () => {
    const { system, time } = createTestSystem();
    const failures = failuresOf(system);
    let bad = 3;
    const fragile = (where: 'state' | 'signal'): Behavior<undefined, never> => ({
      initialState: () => {
        if (where === 'state' && bad-- > 0) throw boom;
        return undefined;
      },
      receive: (state) => state,
      onSignal: (state, { kind }) => {
        if (where === 'signal' && kind === 'started' && bad-- > 0) throw boom;
        return state;
      },
    });
    const first = system.spawn(fragile('state'), { name: 'state' });
    time.settle();
    bad = 3;
    const second = system.spawn(fragile('signal'), { name: 'signal' });
    time.settle();
    expect(failures.map(({ directive }) => directive)).toEqual(new Array(6).fill('restart'));
    for (const ref of [first, second]) expect(system.tell(ref, 0 as never)).toBe('accepted');
  });
});

describe('the restart budget', () => {
  it('ends an actor that fails more often than allowed, and its mailbox goes to the dead letters', () => {
    const { system, time, probe } = createTestSystem();
    const watcher = probe<never>();
    const supervision = { maxRestarts: 3, withinMs: 1000, whenExhausted: 'stop' } as const;
    const ref = system.spawn(countingBehavior(), { name: 'rash', supervision });
    watcher.watch(ref);
    for (let i = 0; i < 10; i += 1) system.tell(ref, { kind: 'fail', error: boom });
    time.settle();
    expect(watcher.expectTerminated(ref)).toMatchObject({ reason: 'failed', error: boom });
    expect(system.stats().failures).toBe(4);
    expect(system.stats().deadLetters.stopped).toBe(6);
  });

  it('forgets restarts that are older than its window', () => {
    const { system, time } = createTestSystem();
    const supervision = { maxRestarts: 2, withinMs: 1000, whenExhausted: 'stop' } as const;
    const ref = system.spawn(countingBehavior(), { name: 'unlucky', supervision });
    for (let i = 0; i < 20; i += 1) {
      system.tell(ref, { kind: 'fail', error: boom });
      time.advanceBy(500);
    }
    expect(system.tell(ref, { kind: 'add', n: 1 })).toBe('accepted');
    expect(system.stats().failures).toBe(20);
  });

  it('of a runaway that fails at every start is spent without starving the others', () => {
    const { system, time, probe } = createTestSystem({ batch: 1 });
    const other = probe<string>();
    const doomed: Behavior<undefined, never> = {
      initialState: () => {
        throw boom;
      },
      receive: (state) => state,
    };
    const supervision = { maxRestarts: 1000, withinMs: 60_000, whenExhausted: 'stop' } as const;
    system.spawn(doomed, { name: 'doomed', supervision });
    system.tell(other.ref, 'through');
    time.settle();
    other.expectMessage('through');
    expect(system.stats()).toMatchObject({ failures: 1001, actors: 1 });
  });

  it('escalates by default when it is spent', () => {
    const { system, time } = createTestSystem();
    const log: string[] = [];
    const parent = system.spawn(parentOf(countingBehavior(), { maxRestarts: 1 }, log), {
      name: 'parent',
    });
    for (let i = 0; i < 2; i += 1) {
      system.tell(parent, { kind: 'fail', error: boom });
      time.settle();
    }
    expect(log).toEqual(['parent started', 'parent pre-restart', 'parent started']);
  });
});

describe('stop and escalate', () => {
  it('stop ends the child and tells the parent, which goes on', () => {
    const { system, time } = createTestSystem();
    const log: string[] = [];
    const parent = system.spawn(parentOf(countingBehavior(), { onFailure: 'stop' }, log), {
      name: 'parent',
    });
    time.settle();
    system.tell(parent, { kind: 'fail', error: boom });
    time.settle();
    expect(log).toEqual(['parent started', 'parent terminated failed']);
    expect(system.stats().actors).toBe(1);
  });

  it('escalate fails the parent with the same error, level by level up to the top', () => {
    const fatal: ActorFailure[] = [];
    const { system, time } = createTestSystem({ onFatal: (failure) => fatal.push(failure) });
    const failures = failuresOf(system);
    const escalate = { onFailure: 'escalate' } as const;
    const middle = parentOf(countingBehavior(), escalate);
    const top = system.spawn(parentOf(middle, escalate), { name: 'top', supervision: escalate });
    time.settle();
    system.tell(top, { kind: 'fail', error: boom });
    time.settle();
    expect(failures.map(({ directive, fatal: isFatal }) => [directive, isFatal])).toEqual([
      ['escalate', false],
      ['escalate', false],
      ['escalate', true],
    ]);
    expect(fatal).toMatchObject([{ path: top.path, error: boom }]);
    expect(system.stats().actors).toBe(0);
  });

  it('a decision by the error; one that throws escalates', () => {
    const decide = (error: unknown): 'stop' | 'restart' => {
      if (error === 'worse') throw new Error('cannot decide');
      return error === 'bad' ? 'stop' : 'restart';
    };
    const { system, time } = createTestSystem();
    const failures = failuresOf(system);
    for (const error of ['fine', 'bad', 'worse']) {
      const ref = system.spawn(countingBehavior(), {
        name: error,
        supervision: { onFailure: decide },
      });
      system.tell(ref, { kind: 'fail', error });
      time.settle();
    }
    expect(failures.map(({ directive }) => directive)).toEqual(['restart', 'stop', 'escalate']);
  });
});

describe('what a failure must not do', () => {
  it('leave the system, whatever is thrown and wherever', () => {
    const { system, time } = createTestSystem();
    const failures = failuresOf(system);
    const bad: Behavior<undefined, 'go'> = {
      initialState: () => undefined,
      receive: () => {
        throw undefined;
      },
      onSignal: (state, { kind }) => {
        if (kind !== 'started') throw new Error(`in ${kind}`);
        return state;
      },
    };
    const ref = system.spawn(bad, {
      name: 'bad',
      supervision: { maxRestarts: 1, whenExhausted: 'stop' },
    });
    system.tell(ref, 'go');
    system.tell(ref, 'go');
    expect(() => time.settle()).not.toThrow();
    expect(failures.map(({ directive }) => directive)).toEqual(['restart', 'none', 'stop', 'none']);
  });

  it('be hidden by a listener that throws, nor harm the listeners after it', () => {
    const { system, time } = createTestSystem();
    system.failures.subscribe(() => {
      throw new Error('bad listener');
    });
    const failures = failuresOf(system);
    const ref = system.spawn(countingBehavior(), { name: 'sum' });
    system.tell(ref, { kind: 'fail', error: boom });
    time.settle();
    expect(failures).toHaveLength(1);
    expect(system.stats().listenerFailures).toBe(1);
  });

  it('keep an actor alive that asked for its end in the same turn', () => {
    const { system, time } = createTestSystem();
    const ref = system.spawn<undefined, 'both'>(
      {
        initialState: () => undefined,
        receive: (_state, _message, context) => {
          context.stop();
          throw boom;
        },
      },
      { name: 'torn' },
    );
    system.tell(ref, 'both');
    time.settle();
    expect(system.stats().actors).toBe(0);
  });
});

describe('onFatal', () => {
  it('may throw to end its thread: in a run of its own, with the system intact', () => {
    const { system, time, probe } = createTestSystem({
      onFatal: ({ error }) => {
        throw error;
      },
    });
    const other = probe<string>();
    const ref = system.spawn<number, CountMessage>(countingBehavior(), {
      name: 'vital',
      supervision: { onFailure: 'escalate' },
    });
    time.settle();
    system.tell(ref, { kind: 'fail', error: boom });
    system.tell(other.ref, 'still here');
    expect(() => time.settle()).toThrow(boom);
    other.expectMessage('still here');
  });
});

describe('supervision options', () => {
  it.each([
    [{ maxRestarts: -1 }, 'maxRestarts must be an integer from 0 to 1000000, got -1'],
    [{ maxRestarts: 1.5 }, 'maxRestarts must be an integer from 0 to 1000000, got 1.5'],
    [{ withinMs: Number.NaN }, 'withinMs must be a finite number > 0, got NaN'],
    [{ withinMs: Number.POSITIVE_INFINITY }, 'withinMs must be a finite number > 0, got Infinity'],
    [
      { onFailure: 'explode' },
      "onFailure must be 'restart', 'stop', 'escalate' or a function, got explode",
    ],
    [{ whenExhausted: 'restart' }, "whenExhausted must be 'stop' or 'escalate', got restart"],
  ])('%o is refused', (options, message) => {
    expect(() => resolveSupervision(options as SupervisionOptions)).toThrow(message);
  });
});
