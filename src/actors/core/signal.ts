import type { AnyActorRef } from './actor-ref.js';

/** How an actor ended: asked to, or by a failure that its supervision did not answer with a restart. */
export type EndReason = 'stopped' | 'failed';

/**
 * What happens to an actor, apart from the messages that it is sent:
 * - `started`: before the first message, and again after each restart
 * - `pre-restart`: a failure is answered with a restart; delivered with the old state, whose result is discarded.
 *   Children, timers and asks of the old incarnation end here, the mailbox stays.
 * - `stopped`: the last thing an actor sees, after its children have stopped
 * - `terminated`: a child, or an actor that it watches, has ended
 */
export type Signal =
  | { readonly kind: 'started' }
  | { readonly kind: 'pre-restart'; readonly error: unknown }
  | { readonly kind: 'stopped' }
  | {
      readonly kind: 'terminated';
      readonly ref: AnyActorRef;
      readonly reason: EndReason;
      /** What it failed with, when `reason` is `failed`. */
      readonly error?: unknown;
    };
