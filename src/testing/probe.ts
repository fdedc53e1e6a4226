import { AssertionError } from 'node:assert';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { ActorRef, AnyActorRef } from '../actors/core/actor-ref.js';
import type { ActorSystem } from '../actors/core/actor-system.js';
import type { Behavior } from '../actors/core/behavior.js';
import type { Signal } from '../actors/core/signal.js';
import type { VirtualTime } from './virtual-time.js';

type Terminated = Extract<Signal, { kind: 'terminated' }>;

type ProbeMessage<Message> = Message | { readonly [WATCH]: AnyActorRef };

const WATCH: unique symbol = Symbol('watch');

/**
 * An actor that a test plays: it keeps what it is sent until the test looks. Looking first lets the system come to rest
 * at the present virtual time, so nothing is waited for, neither for a message nor for its absence.
 */
export class Probe<Message> {
  readonly ref: ActorRef<Message>;
  readonly #system: ActorSystem;
  readonly #time: VirtualTime;
  readonly #received: Message[] = [];
  readonly #terminated: Terminated[] = [];

  constructor(system: ActorSystem, time: VirtualTime, name = 'probe') {
    this.#system = system;
    this.#time = time;
    const behavior: Behavior<undefined, ProbeMessage<Message>> = {
      initialState: () => undefined,
      receive: (state, message, context) => {
        if (isWatch(message)) context.watch(message[WATCH]);
        else this.#received.push(message);
        return state;
      },
      onSignal: (state, signal) => {
        if (signal.kind === 'terminated') this.#terminated.push(signal);
        return state;
      },
    };
    this.ref = system.spawn(behavior, { name });
  }

  /** The next message; with an argument, it must equal that deeply. `AssertionError` otherwise, or when none came. */
  expectMessage(...expected: [] | [Message]): Message {
    this.#time.settle();
    if (this.#received.length === 0) {
      throw failed('expected a message, none came', expected[0], undefined);
    }
    const message = this.#received.shift() as Message;
    if (expected.length > 0 && !isDeepStrictEqual(message, expected[0])) {
      throw failed('expected another message', expected[0], message);
    }
    return message;
  }

  /** `AssertionError` when a message is there that was not looked at. */
  expectNoMessage(): void {
    this.#time.settle();
    if (this.#received.length > 0) {
      throw failed('expected no message', undefined, this.#received[0]);
    }
  }

  /** Everything that came and was not looked at, oldest first. */
  takeMessages(): Message[] {
    this.#time.settle();
    return this.#received.splice(0);
  }

  watch(target: AnyActorRef): void {
    this.#system.tell(this.ref as ActorRef<ProbeMessage<Message>>, { [WATCH]: target });
    this.#time.settle();
  }

  /** How a watched actor ended. `AssertionError` when it has not. */
  expectTerminated(target: AnyActorRef): Terminated {
    this.#time.settle();
    const index = this.#terminated.findIndex(({ ref }) => ref.path === target.path);
    const [signal] = index === -1 ? [] : this.#terminated.splice(index, 1);
    if (signal === undefined)
      throw failed(`expected ${target.path} to have ended`, 'ended', 'alive');
    return signal;
  }
}

function isWatch(message: unknown): message is { readonly [WATCH]: AnyActorRef } {
  return typeof message === 'object' && message !== null && WATCH in message;
}

function failed(text: string, expected: unknown, actual: unknown): AssertionError {
  const message = actual === undefined ? text : `${text}, got ${inspect(actual)}`;
  return new AssertionError({ message, expected, actual, operator: 'probe' });
}
