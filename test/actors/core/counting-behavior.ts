import type { ActorRef } from '../../../src/actors/core/actor-ref.js';
import type { Behavior } from '../../../src/actors/core/behavior.js';
import type { Signal } from '../../../src/actors/core/signal.js';

export type CountMessage =
  | { readonly kind: 'add'; readonly n: number }
  | { readonly kind: 'read'; readonly replyTo: ActorRef<number> }
  | { readonly kind: 'fail'; readonly error: unknown }
  | { readonly kind: 'stop' };

/** Sums what it is sent; says on `log` which signals it saw, and with which sum. */
export function countingBehavior(
  log: string[] = [],
  mailbox?: Behavior<number, CountMessage>['mailbox'],
): Behavior<number, CountMessage> {
  return {
    initialState: () => 0,
    receive(sum, message, context) {
      switch (message.kind) {
        case 'add':
          return sum + message.n;
        case 'read':
          context.tell(message.replyTo, sum);
          return sum;
        case 'fail':
          throw message.error;
        case 'stop':
          context.stop();
          return sum;
      }
    },
    onSignal(sum: number, signal: Signal) {
      log.push(`${signal.kind} at ${sum}`);
      return sum;
    },
    ...(mailbox === undefined ? {} : { mailbox }),
  };
}
