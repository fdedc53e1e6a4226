import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import type { ActorRef } from '../../src/actors/core/actor-ref.js';
import type { Behavior } from '../../src/actors/core/behavior.js';
import { createTestSystem } from '../../src/testing/test-system.js';

type Echo = { readonly text: string; readonly replyTo: ActorRef<string>; readonly afterMs: number };
type Said = { readonly say: string; readonly replyTo: ActorRef<string> };

const echo: Behavior<undefined, Echo | Said> = {
  initialState: () => undefined,
  receive: (state, message, context) => {
    if ('say' in message) context.tell(message.replyTo, message.say);
    else context.after(message.afterMs, { say: message.text, replyTo: message.replyTo });
    return state;
  },
};

describe('a probe', () => {
  it('hands out messages in order, and compares them deeply', () => {
    const { system, probe } = createTestSystem();
    const listener = probe<{ readonly n: number }>();
    system.tell(listener.ref, { n: 1 });
    system.tell(listener.ref, { n: 2 });
    listener.expectMessage({ n: 1 });
    expect(listener.expectMessage()).toEqual({ n: 2 });
    listener.expectNoMessage();
  });

  it('needs no waiting to know that nothing came, and sees it when its time has come', () => {
    const { system, time, probe } = createTestSystem();
    const listener = probe<string>();
    const ref = system.spawn(echo, { name: 'echo' });
    system.tell(ref, { text: 'hi', replyTo: listener.ref, afterMs: 100 });
    listener.expectNoMessage();
    time.advanceTo(99);
    listener.expectNoMessage();
    time.advanceTo(100);
    listener.expectMessage('hi');
  });

  it('fails with what was expected and what came', () => {
    const { system, probe } = createTestSystem();
    const listener = probe<string>();
    expect(() => listener.expectMessage('hi')).toThrow(AssertionError);
    system.tell(listener.ref, 'ho');
    expect(() => listener.expectNoMessage()).toThrow("expected no message, got 'ho'");
    expect(() => listener.expectMessage('hi')).toThrow("expected another message, got 'ho'");
    const stranger = probe<never>();
    expect(() => listener.expectTerminated(stranger.ref)).toThrow(/to have ended/);
  });
});
