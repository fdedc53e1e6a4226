import type { ActorRef } from '../core/actor-ref.js';
import type { ActorContext, Behavior } from '../core/behavior.js';
import {
  dropMember,
  emptySlots,
  enqueueMember,
  type Granted,
  releaseMember,
  type SlotQueue,
} from './slot-queue.js';

/** The part of a tablet that a scheduler talks to. */
export type FlushMember = ActorRef<{ readonly kind: 'run' }>;

export type FlushSchedulerMessage =
  /** The tablet has something to flush. */
  | { readonly kind: 'enqueue'; readonly tablet: FlushMember }
  /** Its run is over, or it has declined it. */
  | { readonly kind: 'release'; readonly tablet: FlushMember };

/** Most tablets of a process times the two messages that each may have under way. */
const MAILBOX = 2 ** 20;

/** One per process: shares `flushThreads` slots among the tablets of all tables. */
export function createFlushScheduler(
  flushThreads: number,
): Behavior<SlotQueue<string>, FlushSchedulerMessage> {
  return {
    initialState: () => emptySlots(flushThreads),
    receive(state, { kind, tablet }, context) {
      if (kind === 'release') return hand(releaseMember(state, tablet.path), context);
      context.watch(tablet);
      return hand(enqueueMember(state, tablet.path), context);
    },
    onSignal(state, signal, context) {
      if (signal.kind !== 'terminated') return state;
      return hand(dropMember(state, signal.ref.path), context);
    },
    mailbox: { capacity: MAILBOX },
  };
}

function hand(
  { queue, granted }: Granted<string>,
  context: ActorContext<FlushSchedulerMessage>,
): SlotQueue<string> {
  // A tablet that is gone already is dropped by its `terminated` signal.
  for (const path of granted) context.tell<{ readonly kind: 'run' }>({ path }, { kind: 'run' });
  return queue;
}
