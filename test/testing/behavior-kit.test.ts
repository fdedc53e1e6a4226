import { describe, expect, it } from 'vitest';
import type { ActorRef } from '../../src/actors/core/actor-ref.js';
import type { AskOutcome, Behavior } from '../../src/actors/core/behavior.js';
import { IllegalStateError } from '../../src/shared/errors.js';
import { createBehaviorKit } from '../../src/testing/behavior-kit.js';

type Message =
  | { readonly kind: 'greet'; readonly replyTo: ActorRef<string> }
  | { readonly kind: 'hire' }
  | { readonly kind: 'ask'; readonly whom: ActorRef<{ readonly replyTo: ActorRef<number> }> }
  | { readonly kind: 'answered'; readonly outcome: AskOutcome<number> }
  | { readonly kind: 'tick' }
  | { readonly kind: 'rest' }
  | { readonly kind: 'quit' }
  | { readonly kind: 'fail' };

const worker: Behavior<undefined, never> = {
  initialState: () => undefined,
  receive: (state) => state,
};

const clerk: Behavior<{ readonly ticks: number; readonly heard: unknown }, Message> = {
  initialState: () => ({ ticks: 0, heard: undefined }),
  receive(state, message, context) {
    switch (message.kind) {
      case 'greet':
        return { ...state, heard: context.tell(message.replyTo, `hello at ${context.nowMs()}`) };
      case 'hire': {
        const child = context.spawn(worker, { name: 'worker' });
        context.watch(child);
        return state;
      }
      case 'ask':
        context.ask<{ readonly replyTo: ActorRef<number> }, number>(
          message.whom,
          (replyTo) => ({ replyTo }),
          { timeoutMs: 50, onOutcome: (outcome) => ({ kind: 'answered', outcome }) },
        );
        return state;
      case 'answered':
        return { ...state, heard: message.outcome };
      case 'tick':
        return { ...state, ticks: state.ticks + 1 };
      case 'rest':
        context.cancel(1);
        return state;
      case 'quit':
        context.stop();
        return state;
      case 'fail':
        throw new Error('boom');
    }
  },
  onSignal(state, signal, context) {
    if (signal.kind === 'started') {
      context.every(100, { kind: 'tick' });
      context.after(30, { kind: 'tick' });
    }
    return state;
  },
};

const someone: ActorRef<unknown> = { path: '/someone#9' };

describe('the behaviour kit', () => {
  it('begins with the started signal and records what it brought about', () => {
    const kit = createBehaviorKit(clerk);
    expect(kit.takeEffects()).toEqual([
      { kind: 'every', timer: 1, intervalMs: 100, message: { kind: 'tick' } },
      { kind: 'after', timer: 2, delayMs: 30, message: { kind: 'tick' } },
    ]);
    expect(kit.takeEffects()).toEqual([]);
  });

  it('gives the effects of each message, and runs nobody else', () => {
    const kit = createBehaviorKit(clerk, { nowMs: 7 });
    const replyTo = someone;
    expect(kit.run({ kind: 'greet', replyTo })).toEqual([
      { kind: 'tell', target: someone, message: 'hello at 7' },
    ]);
    kit.setNow(8);
    expect(kit.run({ kind: 'greet', replyTo })).toMatchObject([{ message: 'hello at 8' }]);
    expect(kit.run({ kind: 'quit' })).toEqual([{ kind: 'stop' }]);
  });

  it('shows a spawned child as data', () => {
    const effects = createBehaviorKit(clerk).run({ kind: 'hire' });
    expect(effects).toMatchObject([
      { kind: 'spawn', behavior: worker, options: { name: 'worker' } },
      { kind: 'watch' },
    ]);
    const [spawn, watch] = effects;
    expect(spawn?.kind === 'spawn' && watch?.kind === 'watch' && watch.target === spawn.ref).toBe(
      true,
    );
  });

  it('fires timers by hand: a repeated one as often as wanted, a single one once', () => {
    const kit = createBehaviorKit(clerk);
    kit.fire(1);
    kit.fire(1);
    kit.fire(2);
    expect(kit.state.ticks).toBe(3);
    expect(() => kit.fire(2)).toThrow(IllegalStateError);
    expect(kit.timers).toEqual([1]);
    kit.run({ kind: 'rest' });
    expect(kit.timers).toEqual([]);
    expect(() => kit.fire(1)).toThrow('timer 1 does not wait');
  });

  it('settles an ask with any outcome', () => {
    const kit = createBehaviorKit(clerk);
    const [ask] = kit.run({ kind: 'ask', whom: someone });
    if (ask?.kind !== 'ask') throw new Error('expected an ask');
    expect(ask).toMatchObject({
      target: someone,
      timeoutMs: 50,
      message: { replyTo: ask.replyTo },
    });
    kit.settle(ask, { ok: true, reply: 42 });
    expect(kit.state.heard).toEqual({ ok: true, reply: 42 });
  });

  it('says what the test wants became of a message', () => {
    const kit = createBehaviorKit(clerk, { tellOutcome: () => 'rejected' });
    kit.run({ kind: 'greet', replyTo: someone });
    expect(kit.state.heard).toBe('rejected');
  });

  it('lets what the behaviour throws come straight out', () => {
    const kit = createBehaviorKit(clerk);
    expect(() => kit.run({ kind: 'fail' })).toThrow('boom');
  });
});
