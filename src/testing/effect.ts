import type { ActorRef, AnyActorRef } from '../actors/core/actor-ref.js';
import type { AskOutcome, Behavior, SpawnOptions, TimerId } from '../actors/core/behavior.js';

/** What a behaviour did through its context, in the order that it did it. */
export type Effect =
  | { readonly kind: 'tell'; readonly target: AnyActorRef; readonly message: unknown }
  | {
      readonly kind: 'ask';
      readonly target: AnyActorRef;
      /** The request, with the address that was put into it. */
      readonly message: unknown;
      readonly replyTo: ActorRef<unknown>;
      readonly timeoutMs: number;
      /** Turns an outcome into the message that the asker would get. */
      readonly toMessage: (outcome: AskOutcome<unknown>) => unknown;
    }
  | {
      readonly kind: 'spawn';
      readonly ref: AnyActorRef;
      readonly behavior: Behavior<never, never>;
      readonly options: SpawnOptions;
    }
  | { readonly kind: 'watch' | 'unwatch'; readonly target: AnyActorRef }
  | {
      readonly kind: 'after';
      readonly timer: TimerId;
      readonly delayMs: number;
      readonly message: unknown;
    }
  | {
      readonly kind: 'every';
      readonly timer: TimerId;
      readonly intervalMs: number;
      readonly message: unknown;
    }
  | { readonly kind: 'cancel'; readonly timer: TimerId }
  /** Without a target: itself. */
  | { readonly kind: 'stop'; readonly target?: AnyActorRef };
