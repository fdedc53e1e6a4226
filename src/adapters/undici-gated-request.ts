import type { Dispatcher } from 'undici';
import { UnknownRpcError } from '../shared/errors.js';
import type { TableKey } from '../shared/table-key.js';
import type { Verdict } from '../shared/verdict.js';
import type { CallRetry } from '../workers/call-options.js';
import type { Gate } from '../workers/gate.js';
import { type AttemptHost, RequestAttempt } from './undici-attempt.js';
import { watchSentBody, watchUnsentBody } from './undici-body.js';
import type { UndiciResponse } from './undici-message.js';
import { RelayController } from './undici-relay-controller.js';

/** What the options of the interceptor have come to for one request. */
export interface RequestPlan {
  readonly gate: Pick<Gate, 'call'>;
  readonly rpc: string;
  readonly table: TableKey | undefined;
  readonly address: string | undefined;
  readonly bucket: string | undefined;
  readonly weight: number | undefined;
  readonly maxWaitMs: number | undefined;
  /** Undefined: as the configuration says. */
  readonly retry: CallRetry | false | undefined;
  readonly unknownRpc: 'pass' | 'refuse';
  readonly classify: (response: UndiciResponse) => Verdict | undefined;
}

/**
 * A request that goes to its dispatcher once the gate lets it. One attempt after the other, each through the gate, which
 * decides whether another one follows. Invariants:
 * - The sender has a controller from the moment it has to wait, and is told one end.
 * - Nothing listens to the body, and no signal is listened to, once the request has gone out.
 */
export class GatedRequest implements AttemptHost {
  readonly handler: Dispatcher.DispatchHandler;
  readonly relay: RelayController;
  readonly #dispatch: Dispatcher['dispatch'];
  readonly #options: Dispatcher.DispatchOptions;
  readonly #plan: RequestPlan;
  readonly #isOwnFault: (error: unknown) => boolean;
  /** Tells the gate that the sender has gone. */
  readonly #gone: AbortController = new AbortController();
  #attempt: RequestAttempt | undefined;
  #isWritable = true;
  #isIntroduced = false;
  #ended = false;
  #failure: unknown;
  #stopWatching: () => void = () => {};

  constructor(
    dispatch: Dispatcher['dispatch'],
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    plan: RequestPlan,
  ) {
    this.handler = handler;
    this.relay = new RelayController((reason) => this.#abort(reason));
    this.#dispatch = dispatch;
    const { body, isOwnFault } = watchSentBody(options.body);
    this.#options = body === options.body ? options : { ...options, body: body as never };
    this.#isOwnFault = isOwnFault;
    this.#plan = plan;
  }

  /** @returns what the dispatcher says: false when it is full. */
  start(): boolean {
    const { gate, rpc, table, address, bucket, weight, maxWaitMs, retry } = this.#plan;
    const call = {
      rpc,
      signal: this.#gone.signal,
      classify: () => this.#attempt?.verdict() ?? 'ignored',
      ...(table !== undefined && { table }),
      ...(address !== undefined && { address }),
      ...(bucket !== undefined && { bucket }),
      ...(weight !== undefined && { weight }),
      ...(maxWaitMs !== undefined && { maxWaitMs }),
      ...(retry !== undefined && { retry }),
      ...(retry !== false && { onRetry: () => this.#attempt?.drop(undefined) }),
    };
    gate
      .call(call, ({ signal, answered }) => this.#send(signal, retry !== false, answered))
      .then(
        () => this.#settled(),
        (error: unknown) => this.#refused(error),
      );
    if (this.#attempt === undefined) this.#wait();
    return this.#isWritable;
  }

  onStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.relay.aimAt(controller);
    if (this.#isIntroduced && context === undefined) return;
    this.#isIntroduced = true;
    this.handler.onRequestStart?.(this.relay, context);
  }

  onEnd(): void {
    this.#ended = true;
  }

  classify(response: UndiciResponse): Verdict | undefined {
    return this.#plan.classify(response);
  }

  isOwnFault(error: unknown): boolean {
    return this.#isOwnFault(error);
  }

  /** The sender may go while it waits, and so may its body. */
  #wait(): void {
    this.#stopWatching = watchUnsentBody(this.#options.body, (error) => this.#abort(error));
    this.#isIntroduced = true;
    try {
      this.handler.onRequestStart?.(this.relay, undefined);
    } catch (error) {
      this.#abort(error as Error);
    }
  }

  async #send(
    bound: AbortSignal | undefined,
    mayRetry: boolean,
    onAnswered?: () => void,
  ): Promise<UndiciResponse> {
    if (this.#ended) {
      // For nobody: the sender has gone, or had seen a part of an attempt that was left behind.
      this.#attempt = undefined;
      throw this.#failure;
    }
    this.#stopWatching();
    const attempt = new RequestAttempt(this, mayRetry, onAnswered);
    this.#attempt = attempt;
    if (bound !== undefined && bound !== this.#gone.signal) {
      const onLeft = (): void => this.#leave(attempt, bound.reason);
      bound.addEventListener('abort', onLeft, { once: true });
    }
    this.#isWritable = attempt.send(this.#dispatch, this.#options);
    return attempt.settled;
  }

  /** The gate has left an attempt behind: its time is over. */
  #leave(attempt: RequestAttempt, reason: unknown): void {
    if (this.#gone.signal.aborted) return;
    const wasSeen = attempt.state === 'passing';
    attempt.drop(reason);
    if (!wasSeen) return;
    this.#fail(reason);
    // Once the gate has counted it: another attempt would be for nobody.
    setImmediate(() => this.#gone.abort(reason));
  }

  #settled(): void {
    const attempt = this.#attempt;
    if (attempt?.state === 'held') this.#outside(() => attempt.release());
  }

  #refused(error: unknown): void {
    if (this.#ended) return;
    const { unknownRpc } = this.#plan;
    if (error instanceof UnknownRpcError && unknownRpc === 'pass' && this.#attempt === undefined) {
      this.#send(undefined, false).catch(() => {});
      return;
    }
    this.#stopWatching();
    this.#attempt?.drop(error);
    this.#outside(() => this.#fail(error));
  }

  /** Outside of any promise: what a handler throws then ends up where it does with undici. */
  #outside(step: () => void): void {
    process.nextTick(() => {
      if (!this.#ended) step();
    });
  }

  #abort(reason: Error | undefined): void {
    if (this.#ended) return;
    this.#stopWatching();
    this.#gone.abort(reason);
    if (this.#attempt?.abort(reason) === true) return;
    this.#attempt?.drop(this.#gone.signal.reason);
    this.#fail(this.#gone.signal.reason);
  }

  #fail(error: unknown): void {
    this.#ended = true;
    this.#failure = error;
    this.handler.onResponseError?.(this.relay, error as Error);
  }
}
