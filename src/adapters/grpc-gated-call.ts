import type { EventEmitter } from 'node:events';
import {
  type InterceptingCall,
  type Metadata,
  type NextCall,
  propagate,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import { endedStatus, type RefusalStatus, refusalStatus } from './grpc-refusal.js';

type NextCallObject = ReturnType<NextCall>;
type CallOptions = Parameters<NextCall>[0];
type Listener = NonNullable<Parameters<NextCallObject['start']>[1]>;
type MessageContext = Parameters<NextCallObject['sendMessageWithContext']>[0];

type ParentCall = EventEmitter & { readonly cancelled: boolean };

/** How to get past the gate: `attempt` is run once, when the call may go, and settles with the call's status. */
export interface Passage {
  readonly request: unknown;
  readonly metadata: Metadata;
  readonly signal: AbortSignal;
  /** Longest wait: the smaller of the limit that was given, if one was, and what is left until the deadline. */
  readonly maxWaitMs: number | undefined;
}

export interface PassageOutcome {
  /** False: the call is not for the gate, and goes at once. */
  readonly gated: boolean;
}

/** Asks the gate. Rejects when it refuses. */
export type Pass = (
  passage: Passage,
  attempt: () => Promise<StatusObject>,
) => Promise<PassageOutcome>;

/** A gate never makes anybody wait longer than a day, and no timer should. */
export const LONGEST_WAIT_MS = 86_400_000;

/**
 * A call that is held until the gate lets it go. The real call is not even created before, because grpc-js loses the end of
 * a call that is cancelled, or reaches its deadline, before it was started. What the client does meanwhile is kept in order.
 *
 * new -> waiting (started; a unary request is there) -> open (passed on) or ended.
 */
export class GatedCall implements NextCallObject {
  readonly #options: CallOptions;
  readonly #nextCall: NextCall;
  readonly #pass: Pass;
  readonly #maxWaitMs: number | undefined;
  readonly #waiting: AbortController = new AbortController();
  #state: 'new' | 'waiting' | 'open' | 'ended' = 'new';
  #metadata: Metadata | undefined;
  #listener: Listener | undefined;
  #inner: NextCallObject | undefined;
  #backlog: ((inner: NextCallObject) => void)[] = [];
  #unsent: MessageContext[] = [];
  #stopWatching: () => void = () => {};

  constructor(options: CallOptions, nextCall: NextCall, pass: Pass, maxWaitMs: number | undefined) {
    this.#options = options;
    this.#nextCall = nextCall;
    this.#pass = pass;
    this.#maxWaitMs = maxWaitMs;
  }

  start(metadata: Metadata, listener: Listener = {}): void {
    this.#metadata = metadata;
    this.#listener = listener;
    if (this.#state === 'ended') {
      this.#endUnsentSoon(endedStatus(status.CANCELLED, 'Cancelled'));
      return;
    }
    // A single request is sent right after; the table is named in it.
    if (this.#options.method_definition.requestStream) this.#ask(undefined);
  }

  sendMessageWithContext(context: MessageContext, message: unknown): void {
    if (this.#state === 'new') this.#ask(message);
    if (this.#state === 'ended') {
      context.callback?.();
      return;
    }
    if (this.#inner === undefined) this.#unsent.push(context);
    this.#forward((inner) => inner.sendMessageWithContext(context, message));
  }

  sendMessage(message: unknown): void {
    this.sendMessageWithContext({}, message);
  }

  startRead(): void {
    this.#forward((inner) => inner.startRead());
  }

  halfClose(): void {
    if (this.#state === 'new') this.#ask(undefined);
    this.#forward((inner) => inner.halfClose());
  }

  cancelWithStatus(code: status, details: string): void {
    if (this.#inner !== undefined) this.#inner.cancelWithStatus(code, details);
    else this.#endBeforeItWasSent(endedStatus(code, details));
  }

  getPeer(): string {
    return this.#inner?.getPeer() ?? 'unknown';
  }

  getAuthContext(): ReturnType<InterceptingCall['getAuthContext']> {
    return this.#inner?.getAuthContext() ?? null;
  }

  #forward(action: (inner: NextCallObject) => void): void {
    if (this.#inner !== undefined) action(this.#inner);
    else if (this.#state !== 'ended') this.#backlog.push(action);
  }

  #ask(request: unknown): void {
    if (this.#metadata === undefined) return;
    this.#state = 'waiting';
    const leftMs = msUntil(deadlineOf(this.#options));
    if (leftMs !== undefined && leftMs <= 0) {
      this.#endByDeadline();
      return;
    }
    const max = this.#maxWaitMs;
    const byDeadline = max !== undefined && leftMs !== undefined && leftMs < max;
    const passage = {
      request,
      metadata: this.#metadata,
      signal: this.#waiting.signal,
      maxWaitMs: byDeadline ? leftMs : max,
    };
    this.#watch(leftMs);
    this.#pass(passage, () => this.#attempt()).then(
      ({ gated }) => {
        if (!gated) void this.#attempt();
      },
      (error: unknown) => {
        if (this.#state !== 'waiting') return;
        this.#stopWatching();
        this.#endUnsentSoon(refusalStatus(error, { byDeadline }));
      },
    );
  }

  /** While waiting, the call's deadline and its parent can end it. */
  #watch(leftMs: number | undefined): void {
    const { propagate_flags: flags = propagate.DEFAULTS } = this.#options;
    const parent: ParentCall | undefined = this.#options.parent;
    const timer =
      leftMs !== undefined && leftMs < LONGEST_WAIT_MS
        ? setTimeout(() => this.#endByDeadline(), Math.ceil(leftMs))
        : undefined;
    const onCancelled = (): void => {
      this.#endBeforeItWasSent(endedStatus(status.CANCELLED, 'Cancelled by parent call'));
    };
    const follows = parent !== undefined && (flags & propagate.CANCELLATION) !== 0;
    if (follows) parent.on('cancelled', onCancelled);
    this.#stopWatching = () => {
      clearTimeout(timer);
      if (follows) parent.off('cancelled', onCancelled);
    };
    if (follows && parent.cancelled) onCancelled();
  }

  /** Starts the real call; settles with its status, whatever that is. */
  #attempt(): Promise<StatusObject> {
    return new Promise((settle) => {
      // Ended in the same turn that let it go.
      if (this.#state !== 'waiting') return settle(endedStatus(status.CANCELLED, 'ended'));
      this.#stopWatching();
      try {
        this.#open(settle);
      } catch (error) {
        // Such as a channel that was closed meanwhile: without a gate in between, the client's call would have thrown.
        const reason = refusalStatus(error, { byDeadline: false });
        this.#endUnsentSoon(reason);
        settle(reason);
      }
    });
  }

  #open(onEnd: (end: StatusObject) => void): void {
    const inner = this.#nextCall(this.#options);
    this.#inner = inner;
    this.#state = 'open';
    inner.start(this.#metadata!, {
      onReceiveMetadata: (metadata) => this.#listener?.onReceiveMetadata?.(metadata),
      onReceiveMessage: (message: unknown) => this.#listener?.onReceiveMessage?.(message),
      onReceiveStatus: (end) => {
        onEnd(end);
        this.#end(end);
      },
    });
    this.#unsent = [];
    for (const action of this.#backlog.splice(0)) action(inner);
  }

  #endByDeadline(): void {
    const details = 'Deadline exceeded while waiting to be sent';
    this.#endBeforeItWasSent(endedStatus(status.DEADLINE_EXCEEDED, details));
  }

  #endBeforeItWasSent(end: RefusalStatus): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#stopWatching();
    // The gate takes nothing, or gives it back.
    this.#waiting.abort();
    this.#endUnsentSoon(end);
  }

  /** As grpc-js does it: never from within a call of the client, and outside of any promise. */
  #endUnsentSoon(end: RefusalStatus): void {
    this.#state = 'ended';
    process.nextTick(() => this.#endUnsent(end));
  }

  #endUnsent(end: RefusalStatus): void {
    this.#state = 'ended';
    this.#backlog = [];
    for (const context of this.#unsent.splice(0)) context.callback?.();
    // As grpc-js ends a call of a single response that never came.
    if (!this.#options.method_definition.responseStream) this.#listener?.onReceiveMessage?.(null);
    this.#end(end);
  }

  #end(end: StatusObject): void {
    const listener = this.#listener;
    this.#state = 'ended';
    this.#listener = undefined;
    listener?.onReceiveStatus?.(end);
  }
}

function deadlineOf({ deadline, parent, propagate_flags: flags }: CallOptions): Date | number {
  const own = deadline ?? Number.POSITIVE_INFINITY;
  if (parent === undefined || ((flags ?? propagate.DEFAULTS) & propagate.DEADLINE) === 0)
    return own;
  return Math.min(Number(own), Number(parent.getDeadline()));
}

/** A gRPC deadline is a time of the wall clock. */
function msUntil(deadline: Date | number): number | undefined {
  const at = Number(deadline);
  return Number.isFinite(at) ? at - Date.now() : undefined;
}
