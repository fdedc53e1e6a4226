declare const accepts: unique symbol;

/**
 * The address of an actor: data, never a way to reach its state. Messages are sent with `context.tell` inside of a
 * behaviour and with `system.tell` outside. A ref outlives its actor: what is sent to a stopped one is a dead letter.
 */
export interface ActorRef<in Message> {
  /** Unique in its system for all time, e.g. `/throttle#3/registry#4`: a successor of the same name has another number. */
  readonly path: string;
  /** Never present; makes a ref contravariant in what it accepts. */
  readonly [accepts]?: (message: Message) => void;
}

/** A ref of whatever kind: good for watching and stopping, not for sending. */
export type AnyActorRef = ActorRef<never>;
