import { describe, expect, it } from 'vitest';
import type { Behavior } from '../../../src/actors/core/behavior.js';
import type { DeadLetter } from '../../../src/actors/core/dead-letter.js';
import { Mailbox, type OverflowPolicy } from '../../../src/actors/core/mailbox.js';
import { createTestSystem, type TestSystem } from '../../../src/testing/test-system.js';

function listing(overflow: OverflowPolicy, seen: number[]): Behavior<undefined, number> {
  return {
    initialState: () => undefined,
    receive: (state, n) => {
      seen.push(n);
      return state;
    },
    mailbox: { capacity: 3, overflow },
  };
}

function lettersOf({ system }: TestSystem): DeadLetter[] {
  const letters: DeadLetter[] = [];
  system.deadLetters.subscribe((letter) => letters.push(letter));
  return letters;
}

describe('a full mailbox', () => {
  it('with reject keeps what it has and tells the sender', () => {
    const test = createTestSystem();
    const letters = lettersOf(test);
    const seen: number[] = [];
    const ref = test.system.spawn(listing('reject', seen), { name: 'box' });
    const outcomes = [1, 2, 3, 4, 5].map((n) => test.system.tell(ref, n));
    test.time.settle();
    expect(outcomes).toEqual(['accepted', 'accepted', 'accepted', 'rejected', 'rejected']);
    expect(seen).toEqual([1, 2, 3]);
    expect(letters.map(({ reason, message }) => [reason, message])).toEqual([
      ['rejected', 4],
      ['rejected', 5],
    ]);
    expect(test.system.stats().deadLetters.rejected).toBe(2);
  });

  it('with drop-newest keeps what it has and drops what comes', () => {
    const test = createTestSystem();
    const seen: number[] = [];
    const ref = test.system.spawn(listing('drop-newest', seen), { name: 'box' });
    const outcomes = [1, 2, 3, 4, 5].map((n) => test.system.tell(ref, n));
    test.time.settle();
    expect(outcomes.slice(3)).toEqual(['dropped', 'dropped']);
    expect(seen).toEqual([1, 2, 3]);
    expect(test.system.stats().deadLetters['dropped-newest']).toBe(2);
  });

  it('with drop-oldest makes room for what comes', () => {
    const test = createTestSystem();
    const letters = lettersOf(test);
    const seen: number[] = [];
    const ref = test.system.spawn(listing('drop-oldest', seen), { name: 'box' });
    const outcomes = [1, 2, 3, 4, 5].map((n) => test.system.tell(ref, n));
    test.time.settle();
    expect(outcomes).toEqual(new Array(5).fill('accepted'));
    expect(seen).toEqual([3, 4, 5]);
    expect(letters.map(({ reason, message }) => [reason, message])).toEqual([
      ['dropped-oldest', 1],
      ['dropped-oldest', 2],
    ]);
  });

  it('still lets control through: timers, ends of children, a stop', () => {
    const { system, time } = createTestSystem();
    const log: string[] = [];
    const ref = system.spawn<undefined, string>(
      {
        initialState: () => undefined,
        receive: (state, message) => {
          log.push(message);
          return state;
        },
        onSignal: (state, { kind }, context) => {
          if (kind === 'started') context.after(10, 'timer');
          log.push(kind);
          return state;
        },
        mailbox: { capacity: 2 },
      },
      { name: 'box' },
    );
    time.settle();
    time.setTimer(10, () => {
      for (let n = 0; n < 5; n += 1) system.tell(ref, `message ${n}`);
      system.stopActor(ref);
    });
    time.advanceTo(10);
    expect(log.at(-1)).toBe('stopped');
    expect(log.indexOf('timer')).toBeGreaterThan(-1);
    expect(system.stats().deadLetters).toMatchObject({ rejected: 3 });
  });
});

describe('mailbox options', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 24 + 1, '5'])(
    'a capacity of %s is refused',
    (capacity) => {
      expect(() => new Mailbox({ capacity: capacity as number })).toThrow(
        `mailbox capacity must be an integer from 1 to 16777216, got ${capacity}`,
      );
    },
  );

  it('an unknown overflow policy is refused', () => {
    expect(() => new Mailbox({ overflow: 'explode' as OverflowPolicy })).toThrow(TypeError);
  });
});
