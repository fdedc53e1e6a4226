import type { EventEmitter } from 'node:events';
import {
  type InterceptingCall,
  type Metadata,
  type NextCall,
  propagate,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import type { AttemptContext } from '../workers/attempt-scope.js';
import { LONGEST_WAIT_MS } from '../workers/wait-options.js';
import {
  type Answer,
  CallScript,
  collectAnswer,
  type Listener,
  type MessageContext,
  type NextCallObject,
  relayAnswer,
} from './grpc-inner-call.js';
import { endedStatus, type RefusalStatus, refusalStatus } from './grpc-refusal.js';

type CallOptions = Parameters<NextCall>[0];
type ParentCall = EventEmitter & { readonly cancelled: boolean };

/** How to get past the gate: `attempt` is run when the call may go, and settles with what came back. */
export interface Passage {
  readonly request: unknown;
  readonly metadata: Metadata;
  /** Aborted when the client, its parent call or its deadline ends the call. */
  readonly signal: AbortSignal;
  /** Longest wait: the smaller of the limit that was given, if one was, and what is left until the deadline. */
  readonly maxWaitMs: number | undefined;
  /** Until the deadline, ms; undefined: there is none, or it is far away. */
  readonly leftMs: number | undefined;
  /** One request and one response: may be sent again. */
  readonly isUnary: boolean;
}

/** `answer`: of the last attempt. Without one the call is not for the gate, and goes at once. */
export interface PassageOutcome {
  readonly answer: Answer | undefined;
}

/** Asks the gate. Rejects when it refuses. */
export type Pass = (
  passage: Passage,
  attempt: (context: AttemptContext) => Promise<Answer>,
) => Promise<PassageOutcome>;

/** Tells a server that this is not the first attempt (gRFC A6). */
const PREVIOUS_ATTEMPTS_KEY = 'grpc-previous-rpc-attempts';

/**
 * A call that is held until the gate lets it go. The real call is not even created before, because grpc-js loses the end of
 * a call that is cancelled, or reaches its deadline, before it was started. What the client does is kept in order, and for a
 * unary call done again to each further attempt; the client hears of the last one only.
 *
 * new -> waiting (started; a unary request is there) <-> open (an attempt is under way) -> ended.
 */
export class GatedCall implements NextCallObject {
  readonly #options: CallOptions;
  readonly #nextCall: NextCall;
  readonly #pass: Pass;
  readonly #maxWaitMs: number | undefined;
  readonly #isUnary: boolean;
  readonly #over: AbortController = new AbortController();
  readonly #script = new CallScript();
  #state: 'new' | 'waiting' | 'open' | 'ended' = 'new';
  #sent = 0;
  #metadata: Metadata | undefined;
  #listener: Listener | undefined;
  #inner: NextCallObject | undefined;
  #stopWatching: () => void = () => {};

  constructor(options: CallOptions, nextCall: NextCall, pass: Pass, maxWaitMs: number | undefined) {
    const { requestStream, responseStream } = options.method_definition;
    this.#options = options;
    this.#nextCall = nextCall;
    this.#pass = pass;
    this.#maxWaitMs = maxWaitMs;
    this.#isUnary = !requestStream && !responseStream;
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
    const inner = this.#inner;
    if (inner === undefined || this.#isUnary) this.#script.addMessage(context, message);
    inner?.sendMessageWithContext(context, message);
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
    const inner = this.#inner;
    if (inner === undefined) this.#endBeforeItWasSent(endedStatus(code, details));
    else {
      // Nothing is sent again; the attempt itself says how it ended.
      this.#over.abort();
      inner.cancelWithStatus(code, details);
    }
  }

  getPeer(): string {
    return this.#inner?.getPeer() ?? 'unknown';
  }

  getAuthContext(): ReturnType<InterceptingCall['getAuthContext']> {
    return this.#inner?.getAuthContext() ?? null;
  }

  #forward(action: (inner: NextCallObject) => void): void {
    if (this.#state === 'ended') return;
    const inner = this.#inner;
    if (inner === undefined || this.#isUnary) this.#script.add(action);
    if (inner !== undefined) action(inner);
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
    const passage: Passage = {
      request,
      metadata: this.#metadata,
      signal: this.#over.signal,
      maxWaitMs: byDeadline ? leftMs : max,
      leftMs: leftMs !== undefined && leftMs < LONGEST_WAIT_MS ? leftMs : undefined,
      isUnary: this.#isUnary,
    };
    this.#watch(passage.leftMs);
    this.#pass(passage, (context) => this.#attempt(context)).then(
      ({ answer }) => {
        if (answer !== undefined) this.#deliver(answer);
        else void this.#attempt(undefined).then((only) => this.#deliver(only));
      },
      (error: unknown) => {
        // A stream has heard its end already.
        if (this.#state === 'ended') return;
        this.#inner?.cancelWithStatus(status.CANCELLED, 'left behind');
        this.#inner = undefined;
        this.#endUnsentSoon(refusalStatus(error, { byDeadline, sent: this.#sent }));
      },
    );
  }

  /** Between attempts the call's deadline and its parent can end it; an attempt sees to that itself. */
  #watch(leftMs: number | undefined): void {
    const { propagate_flags: flags = propagate.DEFAULTS } = this.#options;
    const parent: ParentCall | undefined = this.#options.parent;
    const timer =
      leftMs === undefined ? undefined : setTimeout(() => this.#endByDeadline(), Math.ceil(leftMs));
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

  /** Makes the real call; settles with what came back, whatever that is. */
  #attempt(context: AttemptContext | undefined): Promise<Answer> {
    return new Promise((settle) => {
      // Ended in the same turn that let it go.
      if (this.#state !== 'waiting') return settle(endedStatus(status.CANCELLED, 'ended'));
      if (!this.#isUnary) this.#stopWatching();
      const sent = this.#sent;
      try {
        this.#open(context, settle);
      } catch (error) {
        // Such as a channel that was closed meanwhile: without a gate in between, the client's call would have thrown.
        const reason = refusalStatus(error, { byDeadline: false, sent });
        this.#inner = undefined;
        this.#endUnsentSoon(reason);
        settle(reason);
      }
    });
  }

  #open(context: AttemptContext | undefined, settle: (answer: Answer) => void): void {
    const inner = this.#nextCall(this.#options);
    this.#inner = inner;
    this.#state = 'open';
    this.#sent += 1;
    const onEnd = (answer: Answer): void => {
      if (this.#inner === inner) this.#inner = undefined;
      if (this.#state === 'open') this.#state = 'waiting';
      settle(answer);
    };
    const listener = this.#isUnary
      ? collectAnswer(onEnd)
      : relayAnswer(
          () => this.#listener,
          (answer, end) => {
            settle(answer);
            this.#end(end);
          },
          context?.answered,
        );
    this.#followTimeout(context, inner);
    inner.start(this.#metadataOf(this.#sent), listener);
    this.#script.play(inner, this.#isUnary);
  }

  /** An attempt that the gate leaves behind is cancelled. */
  #followTimeout(context: AttemptContext | undefined, inner: NextCallObject): void {
    const { signal } = context ?? {};
    if (signal === undefined || signal === this.#over.signal) return;
    signal.addEventListener(
      'abort',
      () => {
        // The caller's own cancellation goes its own way.
        if (this.#over.signal.aborted) return;
        if (this.#inner === inner) this.#inner = undefined;
        if (this.#state === 'open') this.#state = 'waiting';
        inner.cancelWithStatus(status.CANCELLED, 'left behind');
      },
      { once: true },
    );
  }

  #metadataOf(attempt: number): Metadata {
    const metadata = this.#metadata!;
    if (!this.#isUnary) return metadata;
    // An attempt may add to it what another must not see.
    const own = metadata.clone();
    if (attempt > 1) own.set(PREVIOUS_ATTEMPTS_KEY, String(attempt - 1));
    return own;
  }

  /** Of a unary call: the last attempt is the call's. */
  #deliver(answer: Answer): void {
    if (this.#state === 'ended' || !this.#isUnary) return;
    this.#state = 'ended';
    this.#stopWatching();
    const { headers, reply, ...end } = answer;
    // Outside of any promise: what the client's code throws is the client's.
    process.nextTick(() => {
      this.#script.drop();
      if (headers !== undefined) this.#listener?.onReceiveMetadata?.(headers);
      if (reply !== undefined) this.#listener?.onReceiveMessage?.(reply);
      this.#end(end);
    });
  }

  #endByDeadline(): void {
    const details =
      this.#sent === 0
        ? 'Deadline exceeded while waiting to be sent'
        : `Deadline exceeded after ${this.#sent} attempts`;
    this.#endBeforeItWasSent(endedStatus(status.DEADLINE_EXCEEDED, details));
  }

  #endBeforeItWasSent(end: RefusalStatus): void {
    if (this.#state === 'ended' || this.#state === 'open') return;
    this.#state = 'ended';
    // The gate takes nothing, or gives it back.
    this.#over.abort();
    this.#endUnsentSoon(end);
  }

  /** As grpc-js does it: never from within a call of the client, and outside of any promise. */
  #endUnsentSoon(end: RefusalStatus): void {
    this.#state = 'ended';
    this.#stopWatching();
    process.nextTick(() => this.#endUnsent(end));
  }

  #endUnsent(end: RefusalStatus): void {
    this.#script.drop();
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
