import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { pressureOf, type Verdict, verdictKind, withPressure } from '../shared/verdict.js';
import type { UndiciResponse } from './undici-message.js';
import { PeerJudge } from './undici-peer-judge.js';
import type { RelayController } from './undici-relay-controller.js';

type Controller = Dispatcher.DispatchController;
type Headers = UndiciResponse['headers'];
type State = 'open' | 'held' | 'passing' | 'dropped' | 'ended';

/** What of a response that nobody wants is read, so that its connection can be used again. undici's own `dump` reads as much. */
const MOST_DRAINED_BYTES = 128 * 1024;

/** What an attempt needs of the request that it is for. */
export interface AttemptHost {
  /** Of the sender. */
  readonly handler: Dispatcher.DispatchHandler;
  readonly relay: RelayController;
  /** An attempt goes out on a connection. */
  onStart(controller: Controller, context: unknown): void;
  /** The sender has been told the end. */
  onEnd(): void;
  /** The user's own word on a response. */
  classify(response: UndiciResponse): Verdict | undefined;
  /** Whether an error comes from the request's body. */
  isOwnFault(error: unknown): boolean;
}

/**
 * One attempt: what undici tells of a request that has gone out. Invariants:
 * - It settles once. A bad status settles it with the head of its response, whoever reads the rest; any other does with
 *   its end.
 * - The sender sees one response at most. As long as another attempt may follow a bad one, that one's head is held, the
 *   response paused; whoever decides then releases or drops it. No body is buffered.
 *
 * open -> held -> passing or dropped; open -> passing -> ended; open or passing -> dropped (left behind).
 */
export class RequestAttempt implements Dispatcher.DispatchHandler {
  readonly settled: Promise<UndiciResponse>;
  readonly #host: AttemptHost;
  readonly #judge: PeerJudge;
  /** Whether another attempt may follow. */
  readonly #mayRetry: boolean;
  readonly #onAnswered: (() => void) | undefined;
  #state: State = 'open';
  #controller: Controller | undefined;
  #response: UndiciResponse | undefined;
  #verdict: Verdict = 'ignored';
  #isSettled = false;
  #isHandlersFault = false;
  #hasFailed = false;
  #drainedBytes = 0;
  /** What has come after a head that is held, from a dispatcher that cannot pause. */
  #backlog: (() => void)[] = [];
  #statusMessage: string | undefined;
  #dropReason: unknown;
  #resolve!: (response: UndiciResponse) => void;
  #reject!: (error: unknown) => void;

  /** `onAnswered` is told when a good head has come. */
  constructor(host: AttemptHost, mayRetry: boolean, onAnswered: (() => void) | undefined) {
    this.#onAnswered = onAnswered;
    this.#host = host;
    this.#judge = new PeerJudge((response) => host.classify(response));
    this.#mayRetry = mayRetry;
    this.settled = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get state(): State {
    return this.#state;
  }

  /** Once it has settled. @throws what the user's classifier threw. */
  verdict(): Verdict {
    const { fault } = this.#judge;
    if (fault !== undefined) throw fault.error;
    return this.#verdict;
  }

  send(dispatch: Dispatcher['dispatch'], options: Dispatcher.DispatchOptions): boolean {
    try {
      return dispatch(options, this);
    } catch (error) {
      this.onResponseError(undefined, error as Error);
      return false;
    }
  }

  /** The sender aborts. @returns whether the attempt tells the sender so itself. */
  abort(reason: Error | undefined): boolean {
    const controller = this.#controller;
    if (this.#state !== 'open' && this.#state !== 'passing') return false;
    if (controller === undefined) {
      this.#settle('ignored', () => this.#reject(reason));
      return false;
    }
    controller.abort(reason as Error);
    return true;
  }

  /** The head that is held, and all that follows it, goes to the sender. */
  release(): void {
    const { handler, relay } = this.#host;
    const { status, headers } = this.#response as UndiciResponse;
    const controller = this.#controller as Controller;
    this.#state = 'passing';
    relay.aimAt(controller);
    try {
      handler.onResponseStart?.(relay, status, headers as never, this.#statusMessage);
      if (!relay.paused) controller.resume();
      for (const event of this.#backlog.splice(0)) event();
    } catch (error) {
      // As undici does where it calls a handler.
      controller.abort(error as Error);
    }
  }

  /** The sender shall see no more of it. */
  drop(reason: unknown): void {
    const wasHeld = this.#state === 'held';
    if (this.#state === 'dropped' || this.#state === 'ended') return;
    this.#state = 'dropped';
    this.#dropReason = reason;
    this.#backlog = [];
    if (wasHeld) this.#controller?.resume();
    else this.#controller?.abort(reason as Error);
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#controller = controller;
    this.#judge.follow(context);
    if (this.#state === 'dropped') controller.abort(this.#dropReason as Error);
    else this.#tell(() => this.#host.onStart(controller, context));
  }

  /** For handlers of undici 6, such as that of the built-in `fetch`. */
  onResponseStarted(): void {
    if (this.#state === 'open') this.#tell(() => this.#host.handler.onResponseStarted?.());
  }

  onRequestUpgrade(controller: Controller, status: number, headers: Headers, socket: Duplex): void {
    if (this.#state === 'dropped') {
      socket.destroy();
      return;
    }
    const response = { status, headers, trailers: undefined };
    this.#state = 'ended';
    this.#settle('success', () => this.#resolve(response));
    this.#host.onEnd();
    const { handler, relay } = this.#host;
    relay.aimAt(controller);
    handler.onRequestUpgrade?.(relay, status, headers as never, socket);
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: Headers,
    statusMessage?: string,
  ): void {
    if (this.#state === 'dropped') return;
    const { handler, relay } = this.#host;
    const pass = (): void =>
      handler.onResponseStart?.(relay, status, headers as never, statusMessage);
    if (status < 200) {
      this.#tell(pass);
      return;
    }
    const response = { status, headers, trailers: undefined };
    this.#response = response;
    this.#statusMessage = statusMessage;
    const verdict = this.#judge.response(response);
    if (verdict === undefined) {
      // The classifier has failed: the request ends with what it threw.
      controller.abort(this.#judge.fault?.error as Error);
      return;
    }
    this.#verdict = verdict;
    const kind = verdictKind(verdict);
    if (kind !== 'success' && kind !== 'ignored') {
      if (this.#mayRetry) {
        this.#state = 'held';
        relay.aimAt(undefined);
        controller.pause();
      }
      this.#settle(verdict, () => this.#resolve(response));
      if (this.#mayRetry) return;
    }
    if (kind === 'success') this.#onAnswered?.();
    this.#state = 'passing';
    this.#tell(pass);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#state === 'held') {
      this.#backlog.push(() => this.onResponseData(controller, chunk));
    } else if (this.#state === 'passing') {
      this.#tell(() => this.#host.handler.onResponseData?.(this.#host.relay, chunk));
    } else if (this.#state === 'dropped') {
      this.#drainedBytes += chunk.length;
      if (this.#drainedBytes > MOST_DRAINED_BYTES) controller.abort(this.#dropReason as Error);
    }
  }

  onResponseEnd(controller: Controller, trailers: Headers): void {
    if (this.#state === 'held') {
      this.#backlog.push(() => this.onResponseEnd(controller, trailers));
      return;
    }
    if (this.#state !== 'passing') return;
    const { handler, relay } = this.#host;
    const response = { ...(this.#response as UndiciResponse), trailers: trailers ?? {} };
    if (!this.#isSettled && verdictKind(this.#verdict) === 'success') {
      const said =
        Object.keys(response.trailers).length === 0
          ? this.#verdict
          : this.#judge.response(response);
      if (said === undefined) {
        this.onResponseError(controller, this.#judge.fault?.error as Error);
        return;
      }
      this.#verdict = said;
    }
    this.#settle(this.#verdict, () => this.#resolve(response));
    this.#state = 'ended';
    this.#host.onEnd();
    handler.onResponseEnd?.(relay, trailers as never);
  }

  onResponseError(controller: Controller | undefined, error: Error): void {
    if (this.#state === 'held') {
      this.#backlog.push(() => this.onResponseError(controller, error));
      return;
    }
    // undici also says so when a handler has thrown at the end.
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { fault } = this.#judge;
    const shown = (fault === undefined ? error : fault.error) as Error;
    const isForSender = this.#state !== 'dropped';
    const isOpen = this.#state === 'open';
    const wasEnded = this.#state === 'ended';
    if (!this.#isSettled) {
      // What the head said of the pressure stands, whatever became of the rest.
      const blamed = withPressure(this.#blame(error), pressureOf(this.#verdict));
      this.#settle(blamed, () => this.#reject(shown));
    }
    // Whoever decides on another attempt tells the sender if there is none.
    if (!isForSender || (isOpen && this.#mayRetry && !this.#host.relay.aborted)) return;
    this.#state = 'ended';
    if (!wasEnded) this.#host.onEnd();
    this.#host.handler.onResponseError?.(this.#host.relay, shown);
  }

  /** The sender's own doing is known by what it did, not by the shape of the error. */
  #blame(error: unknown): Verdict {
    const { relay } = this.#host;
    const isOwn = relay.aborted || this.#isHandlersFault || this.#host.isOwnFault(error);
    return isOwn ? 'ignored' : this.#judge.error(error);
  }

  #settle(verdict: Verdict, settle: () => void): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#verdict = this.#state === 'passing' ? final(verdict) : verdict;
    settle();
  }

  /** What a handler throws is no fault of the peer. */
  #tell(event: () => void): void {
    try {
      event();
    } catch (error) {
      this.#isHandlersFault = true;
      throw error;
    }
  }
}

/** The sender has seen a part of it already: nothing can follow. */
function final(verdict: Verdict): Verdict {
  const kind = verdictKind(verdict);
  if (kind === 'success' || kind === 'ignored') return verdict;
  return withPressure({ kind, retryAfterMs: Number.POSITIVE_INFINITY }, pressureOf(verdict));
}
