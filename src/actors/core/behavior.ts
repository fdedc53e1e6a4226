import type { ActorRef, AnyActorRef } from './actor-ref.js';
import type { MailboxOptions } from './mailbox.js';
import type { Signal } from './signal.js';
import type { SupervisionOptions } from './supervision.js';

/**
 * What became of a message at the moment that it was sent:
 * - `accepted`: it is in the mailbox
 * - `rejected`: the mailbox is full and its policy is `reject`
 * - `dropped`: the mailbox is full and its policy is `drop-newest`
 * - `dead`: nobody is there
 *
 * All but the first are counted and published as dead letters.
 */
export type TellOutcome = 'accepted' | 'rejected' | 'dropped' | 'dead';

/** Identifies a timer within its system. Cancelling one that has fired or was cancelled does nothing. */
export type TimerId = number;

/** An answer, or why there is none: `AskTimeoutError`, `ActorStoppedError` or `MailboxOverflowError`. */
export type AskOutcome<Reply> =
  | { readonly ok: true; readonly reply: Reply }
  | { readonly ok: false; readonly error: Error };

export interface ContextAskOptions<Reply, Message> {
  /** Deadline of the answer, ms. */
  readonly timeoutMs: number;
  /** Turns the outcome into a message of one's own. Called exactly once, in the asker's turn. */
  readonly onOutcome: (outcome: AskOutcome<Reply>) => Message;
}

export interface SpawnOptions {
  /** Part of the path, for people; need not be unique. Letters, digits, `-`, `_` and `.`. */
  readonly name: string;
  /** What a failure of the child does. Default: restart, 5 times within a minute, then escalate. */
  readonly supervision?: SupervisionOptions;
}

/**
 * A behaviour is data: how an actor begins and how it answers. It holds no state of its own, so one behaviour may be
 * spawned many times, and a restart begins with a fresh `initialState()`. All effects go through the context. What it
 * throws goes to the supervision that its parent gave it, never further.
 */
export interface Behavior<State, Message> {
  /** The state of a new incarnation. Called once per start and restart. */
  readonly initialState: () => State;
  /** Answers one message with the next state. */
  readonly receive: (state: State, message: Message, context: ActorContext<Message>) => State;
  /** Answers a lifecycle signal with the next state. Without it signals change nothing. */
  readonly onSignal?: (state: State, signal: Signal, context: ActorContext<Message>) => State;
  /** Default: 1024 messages, `reject`. */
  readonly mailbox?: MailboxOptions;
}

/**
 * The only way for a behaviour to have an effect. Nothing here runs another actor: effects are queued. Spawning, timers,
 * asks and watches of an actor that has stopped raise `IllegalStateError`.
 */
export interface ActorContext<Message> {
  readonly self: ActorRef<Message>;
  /** Monotonic time of the system, ms, possibly with a fraction. */
  nowMs(): number;
  /** Sends a message, at most once, in order per sender and receiver. */
  tell<Target>(target: ActorRef<Target>, message: Target): TellOutcome;
  /** Sends a message that carries an address for one answer; the outcome comes back as a message, by the deadline at the latest. */
  ask<Request, Reply>(
    target: ActorRef<Request>,
    request: (replyTo: ActorRef<Reply>) => Request,
    options: ContextAskOptions<Reply, Message>,
  ): void;
  /** Starts a child. It ends with its parent at the latest. */
  spawn<ChildState, ChildMessage>(
    behavior: Behavior<ChildState, ChildMessage>,
    options: SpawnOptions,
  ): ActorRef<ChildMessage>;
  /** Asks for a `terminated` signal when `target` ends; at once when it has ended. Children are watched without asking. */
  watch(target: AnyActorRef): void;
  unwatch(target: AnyActorRef): void;
  /** Sends `message` to oneself after at least `delayMs` (0 to 2^53 ms), ahead of ordinary messages. */
  after(delayMs: number, message: Message): TimerId;
  /**
   * Sends `message` to oneself every `intervalMs` (1 to 2^53 ms). Keeps its phase: what a stall has missed is skipped, not
   * made up for, and at most one is waiting in the mailbox.
   */
  every(intervalMs: number, message: Message): TimerId;
  /** After this returns the timer's message is not delivered any more, even if it was already queued. */
  cancel(timer: TimerId): void;
  /** Stops oneself after this message, or a child before its next one. Of an actor that is neither: `IllegalStateError`. */
  stop(child?: AnyActorRef): void;
}
