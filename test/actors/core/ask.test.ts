import { describe, expect, it } from 'vitest';
import type { ActorRef } from '../../../src/actors/core/actor-ref.js';
import type { AskOutcome, Behavior } from '../../../src/actors/core/behavior.js';
import {
  ActorStoppedError,
  AskTimeoutError,
  MailboxOverflowError,
} from '../../../src/shared/errors.js';
import { createTestSystem } from '../../../src/testing/test-system.js';
import { countingBehavior } from './counting-behavior.js';

interface Question {
  readonly replyTo: ActorRef<string>;
  readonly afterMs?: number;
}

type Answerer = Question | { readonly late: ActorRef<string> };

/** Answers at once, or after a while. */
const answerer: Behavior<undefined, Answerer> = {
  initialState: () => undefined,
  receive: (state, message, context) => {
    if ('late' in message) context.tell(message.late, 'late answer');
    else if (message.afterMs === undefined) context.tell(message.replyTo, 'answer');
    else context.after(message.afterMs, { late: message.replyTo });
    return state;
  },
};

function asker(
  target: ActorRef<Question>,
  options: { readonly timeoutMs: number; readonly afterMs?: number },
  outcomes: AskOutcome<string>[],
): Behavior<undefined, AskOutcome<string>> {
  const { timeoutMs, ...rest } = options;
  return {
    initialState: () => undefined,
    receive: (state, outcome) => {
      outcomes.push(outcome);
      return state;
    },
    onSignal: (state, { kind }, context) => {
      if (kind !== 'started') return state;
      context.ask<Question, string>(target, (replyTo) => ({ replyTo, ...rest }), {
        timeoutMs,
        onOutcome: (outcome) => outcome,
      });
      return state;
    },
  };
}

describe('ask from an actor', () => {
  it('brings the answer back as a message', () => {
    const { system, time } = createTestSystem();
    const target = system.spawn(answerer, { name: 'answerer' });
    const outcomes: AskOutcome<string>[] = [];
    system.spawn(asker(target, { timeoutMs: 10 }, outcomes), { name: 'asker' });
    time.settle();
    expect(outcomes).toEqual([{ ok: true, reply: 'answer' }]);
    expect(system.stats()).toMatchObject({ asks: 0, timers: 0 });
  });

  it('ends at its deadline, not before, and what comes later is a dead letter', () => {
    const { system, time } = createTestSystem();
    const target = system.spawn(answerer, { name: 'answerer' });
    const outcomes: AskOutcome<string>[] = [];
    system.spawn(asker(target, { timeoutMs: 10, afterMs: 15 }, outcomes), { name: 'asker' });
    time.advanceTo(9.999);
    expect(outcomes).toEqual([]);
    time.advanceTo(20);
    expect(outcomes).toEqual([{ ok: false, error: expect.any(AskTimeoutError) }]);
    expect(system.stats().deadLetters['late-reply']).toBe(1);
  });

  it('of an actor that has ended fails at once, without its deadline', () => {
    const { system, time } = createTestSystem();
    const target = system.spawn(answerer, { name: 'answerer' });
    time.settle();
    system.stopActor(target);
    time.settle();
    const outcomes: AskOutcome<string>[] = [];
    system.spawn(asker(target, { timeoutMs: 1e9 }, outcomes), { name: 'asker' });
    time.settle();
    expect(outcomes).toEqual([{ ok: false, error: expect.any(ActorStoppedError) }]);
    expect(time.pendingTimers).toBe(0);
  });

  it('fails when the asked actor ends with the question unanswered', () => {
    const { system, time } = createTestSystem();
    const target = system.spawn(answerer, { name: 'answerer' });
    const outcomes: AskOutcome<string>[] = [];
    system.spawn(asker(target, { timeoutMs: 1e9, afterMs: 1e6 }, outcomes), { name: 'asker' });
    time.settle();
    system.stopActor(target);
    time.settle();
    expect(outcomes).toEqual([{ ok: false, error: expect.any(ActorStoppedError) }]);
    expect(system.stats()).toMatchObject({ asks: 0, timers: 0 });
  });

  it('of a full mailbox fails at once', () => {
    const { system, time } = createTestSystem();
    const target = system.spawn({ ...answerer, mailbox: { capacity: 1 } }, { name: 'answerer' });
    const outcomes: AskOutcome<string>[] = [];
    const two: Behavior<undefined, AskOutcome<string>> = {
      ...asker(target, { timeoutMs: 10 }, outcomes),
      onSignal: (state, signal, context) => {
        for (let i = 0; i < 2; i += 1) {
          asker(target, { timeoutMs: 10 }, outcomes).onSignal?.(state, signal, context);
        }
        return state;
      },
    };
    system.spawn(two, { name: 'asker' });
    time.settle();
    expect(outcomes).toContainEqual({ ok: false, error: expect.any(MailboxOverflowError) });
    expect(outcomes).toContainEqual({ ok: true, reply: 'answer' });
  });

  it('goes with its asker, unsettled', () => {
    const { system, time } = createTestSystem();
    const target = system.spawn(answerer, { name: 'answerer' });
    const outcomes: AskOutcome<string>[] = [];
    const ref = system.spawn(asker(target, { timeoutMs: 100, afterMs: 50 }, outcomes), {
      name: 'asker',
    });
    time.settle();
    system.stopActor(ref);
    time.advanceTo(200);
    expect(outcomes).toEqual([]);
    expect(system.stats()).toMatchObject({ asks: 0, timers: 0 });
  });

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5'])(
    'with a deadline of %s fails the asker',
    (timeoutMs) => {
      const { system, time } = createTestSystem();
      const target = system.spawn(answerer, { name: 'answerer' });
      const errors: unknown[] = [];
      system.failures.subscribe(({ error }) => errors.push(error));
      system.spawn(asker(target, { timeoutMs: timeoutMs as number }, []), {
        name: 'asker',
        supervision: { onFailure: 'stop' },
      });
      time.settle();
      expect(errors).toEqual([expect.any(RangeError)]);
    },
  );

  it('whose request cannot be made fails the asker and leaves nothing behind', () => {
    const { system, time } = createTestSystem();
    const target = system.spawn(answerer, { name: 'answerer' });
    const clumsy: Behavior<undefined, never> = {
      initialState: () => undefined,
      receive: (state) => state,
      onSignal: (state, { kind }, context) => {
        if (kind !== 'started') return state;
        context.ask<Question, string>(
          target,
          () => {
            throw new Error('no request');
          },
          { timeoutMs: 10, onOutcome: () => undefined as never },
        );
        return state;
      },
    };
    system.spawn(clumsy, { name: 'clumsy', supervision: { onFailure: 'stop' } });
    time.settle();
    expect(system.stats()).toMatchObject({ failures: 1, asks: 0, timers: 0 });
  });
});

describe('ask from outside', () => {
  it('resolves with the answer', async () => {
    const { system, time } = createTestSystem();
    const target = system.spawn(countingBehavior(), { name: 'sum' });
    system.tell(target, { kind: 'add', n: 4 });
    const answer = system.ask(target, (replyTo) => ({ kind: 'read' as const, replyTo }), {
      timeoutMs: 10,
    });
    time.settle();
    expect(await answer).toBe(4);
  });

  it('rejects at its deadline', async () => {
    const { system, time } = createTestSystem();
    const target = system.spawn(answerer, { name: 'answerer' });
    const answer = system.ask<Question, string>(target, (replyTo) => ({ replyTo, afterMs: 50 }), {
      timeoutMs: 10,
    });
    const settled = expect(answer).rejects.toThrow(`${target.path} did not answer in 10 ms`);
    time.advanceTo(60);
    await settled;
  });

  it('rejects when the system stops', async () => {
    const { system, time } = createTestSystem();
    const target = system.spawn(answerer, { name: 'answerer' });
    const answer = system.ask<Question, string>(target, (replyTo) => ({ replyTo, afterMs: 50 }), {
      timeoutMs: 1000,
    });
    const settled = expect(answer).rejects.toBeInstanceOf(ActorStoppedError);
    time.settle();
    const stopped = system.stop();
    time.settle();
    await Promise.all([settled, stopped]);
    const late = system.ask<Question, string>(target, (replyTo) => ({ replyTo }), { timeoutMs: 1 });
    await expect(late).rejects.toBeInstanceOf(ActorStoppedError);
    expect(system.stats()).toMatchObject({ asks: 0, timers: 0, actors: 0 });
  });
});
