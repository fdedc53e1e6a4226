import { Deque } from './deque.js';

/**
 * What a full mailbox does with one more message:
 * - `reject`: refuses it and says so to the sender (an `ask` gets `MailboxOverflowError`)
 * - `drop-oldest`: makes room by dropping what has waited longest
 * - `drop-newest`: drops the message that came
 *
 * Every message that is not delivered is counted and published as a dead letter.
 */
export type OverflowPolicy = 'reject' | 'drop-oldest' | 'drop-newest';

export interface MailboxOptions {
  /** Most ordinary messages that wait, an integer from 1 to 2^24. Default 1024. */
  readonly capacity?: number;
  /** Default `reject`. */
  readonly overflow?: OverflowPolicy;
}

export type Offer<Message> =
  | { readonly kind: 'accepted' | 'rejected' | 'dropped' }
  | { readonly kind: 'displaced'; readonly message: Message };

const DEFAULT_CAPACITY = 1024;
const MAX_CAPACITY = 2 ** 24;

const ACCEPTED = { kind: 'accepted' } as const;
const REJECTED = { kind: 'rejected' } as const;
const DROPPED = { kind: 'dropped' } as const;

/**
 * Two lanes. The ordinary one holds at most `capacity` messages. The control lane is served first and is never full:
 * lifecycle signals, due timers and settled asks, each of which the actor itself asked for, at most one at a time per
 * timer, ask, child and watch.
 */
export class Mailbox<Message, Control> {
  readonly capacity: number;
  readonly overflow: OverflowPolicy;
  readonly #ordinary = new Deque<Message>();
  readonly #control = new Deque<Control>();

  constructor({ capacity = DEFAULT_CAPACITY, overflow = 'reject' }: MailboxOptions = {}) {
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > MAX_CAPACITY) {
      throw new RangeError(
        `mailbox capacity must be an integer from 1 to ${MAX_CAPACITY}, got ${String(capacity)}`,
      );
    }
    if (overflow !== 'reject' && overflow !== 'drop-oldest' && overflow !== 'drop-newest') {
      throw new TypeError(
        `mailbox overflow must be 'reject', 'drop-oldest' or 'drop-newest', got ${String(overflow)}`,
      );
    }
    this.capacity = capacity;
    this.overflow = overflow;
  }

  /** Ordinary messages that wait. */
  get length(): number {
    return this.#ordinary.length;
  }

  get controlLength(): number {
    return this.#control.length;
  }

  get isEmpty(): boolean {
    return this.#ordinary.length === 0 && this.#control.length === 0;
  }

  offer(message: Message): Offer<Message> {
    if (this.#ordinary.length < this.capacity) {
      this.#ordinary.push(message);
      return ACCEPTED;
    }
    if (this.overflow === 'reject') return REJECTED;
    if (this.overflow === 'drop-newest') return DROPPED;
    const displaced = this.#ordinary.shift();
    this.#ordinary.push(message);
    return { kind: 'displaced', message: displaced };
  }

  pushControl(item: Control): void {
    this.#control.push(item);
  }

  /** Only when `controlLength > 0`. */
  takeControl(): Control {
    return this.#control.shift();
  }

  /** Only when `length > 0`. */
  take(): Message {
    return this.#ordinary.shift();
  }

  /** Empties both lanes; returns the ordinary messages that will not be delivered. */
  close(): Message[] {
    this.#control.drain();
    return this.#ordinary.drain();
  }

  /** Empties the control lane and returns what was in it, oldest first. */
  drainControl(): Control[] {
    return this.#control.drain();
  }
}
