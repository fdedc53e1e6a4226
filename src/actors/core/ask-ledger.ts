import { ActorStoppedError, AskTimeoutError, MailboxOverflowError } from '../../shared/errors.js';
import type { ActorCell } from './actor-cell.js';
import type { ActorRef } from './actor-ref.js';
import type { AskOutcome, TellOutcome, TimerId } from './behavior.js';
import type { TimerLedger } from './timer-ledger.js';

/** How the address for an answer begins; actors' paths never do. */
export const ASK_PREFIX = '/ask#';

export interface AskRequest {
  readonly target: ActorRef<never>;
  /** undefined when nobody is there. */
  readonly targetCell: ActorCell | undefined;
  readonly timeoutMs: number;
  /** undefined: asked from outside. */
  readonly asker: ActorCell | undefined;
  /** Sends the request; what became of it. */
  readonly send: (replyTo: ActorRef<unknown>) => TellOutcome;
  readonly settle: (outcome: AskOutcome<unknown>, askPath: string) => void;
}

interface PendingAsk {
  readonly request: AskRequest;
  readonly timer: TimerId;
}

/**
 * Asks under way. Each is settled exactly once: by its answer, by its deadline, at once when the request could not be
 * delivered, or when the asked actor ends. An asker that ends or restarts takes its asks along, unsettled.
 */
export class AskLedger {
  readonly #timers: TimerLedger;
  readonly #pending = new Map<string, PendingAsk>();
  #count = 0;

  constructor(timers: TimerLedger) {
    this.#timers = timers;
  }

  get size(): number {
    return this.#pending.size;
  }

  ask(request: AskRequest): void {
    this.#count += 1;
    const path = `${ASK_PREFIX}${this.#count}`;
    const timer = this.#timers.deadline(request.timeoutMs, () =>
      this.#fail(
        path,
        new AskTimeoutError(`${request.target.path} did not answer in ${request.timeoutMs} ms`),
      ),
    );
    this.#pending.set(path, { request, timer });
    request.asker?.asksMade.add(path);
    request.targetCell?.asksReceived.add(path);
    const outcome = this.#send(request, path);
    if (outcome === 'dead') this.#fail(path, stopped(request.target));
    else if (outcome !== 'accepted') {
      this.#fail(path, new MailboxOverflowError(`the mailbox of ${request.target.path} is full`));
    }
  }

  #send(request: AskRequest, path: string): TellOutcome {
    try {
      return request.send(Object.freeze({ path }));
    } catch (error) {
      // The function that makes the request threw: that is the asker's failure, not an outcome.
      this.#remove(path);
      request.asker?.asksMade.delete(path);
      throw error;
    }
  }

  /** Whether `path` is an ask that waits for its answer; the answer is then delivered. */
  reply(path: string, reply: unknown): boolean {
    return this.#settle(path, { ok: true, reply });
  }

  failAllOf(target: ActorCell): void {
    for (const path of [...target.asksReceived]) this.#fail(path, stopped(target.ref));
  }

  forgetAllOf(asker: ActorCell): void {
    for (const path of [...asker.asksMade]) this.#remove(path);
    // What was settled and waits to be delivered belongs to the old incarnation, too.
    asker.asksMade.clear();
  }

  /** The system ends: whoever asked from outside learns it. */
  failRest(): void {
    for (const [path, { request }] of [...this.#pending]) this.#fail(path, stopped(request.target));
  }

  #fail(path: string, error: Error): void {
    this.#settle(path, { ok: false, error });
  }

  #settle(path: string, outcome: AskOutcome<unknown>): boolean {
    const pending = this.#remove(path);
    if (pending === undefined) return false;
    pending.request.settle(outcome, path);
    return true;
  }

  #remove(path: string): PendingAsk | undefined {
    const pending = this.#pending.get(path);
    if (pending === undefined) return undefined;
    this.#pending.delete(path);
    this.#timers.cancelDeadline(pending.timer);
    pending.request.targetCell?.asksReceived.delete(path);
    return pending;
  }
}

function stopped(target: ActorRef<never>): ActorStoppedError {
  return new ActorStoppedError(`${target.path} has stopped`);
}
