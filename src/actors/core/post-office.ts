import type { ActorCell } from './actor-cell.js';
import type { AskLedger } from './ask-ledger.js';
import { ASK_PREFIX } from './ask-ledger.js';
import type { TellOutcome } from './behavior.js';
import {
  type DeadLetter,
  type DeadLetterCounts,
  type DeadLetterReason,
  noDeadLetters,
} from './dead-letter.js';
import { EventStream } from './event-stream.js';

export interface PostOfficePorts {
  readonly nowMs: () => number;
  readonly asks: AskLedger;
  /** A mailbox has got a message. */
  readonly enqueue: (cell: ActorCell) => void;
}

/** Who lives where. Every message ends in a mailbox, as an answer to an ask, or as a dead letter that is counted. */
export class PostOffice {
  readonly deadLetters: EventStream<DeadLetter> = new EventStream();
  readonly #ports: PostOfficePorts;
  readonly #cells = new Map<string, ActorCell>();
  readonly #counts = noDeadLetters();

  constructor(ports: PostOfficePorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#cells.size;
  }

  get counts(): DeadLetterCounts {
    return { ...this.#counts };
  }

  register(cell: ActorCell): void {
    this.#cells.set(cell.path, cell);
  }

  forget(cell: ActorCell): void {
    this.#cells.delete(cell.path);
  }

  find(path: string): ActorCell | undefined {
    return this.#cells.get(path);
  }

  tell(path: string, message: unknown): TellOutcome {
    const cell = this.#cells.get(path);
    if (cell === undefined) return this.#tellNobody(path, message);
    const offer = cell.mailbox.offer(message);
    switch (offer.kind) {
      case 'rejected':
        this.deadLetter('rejected', path, message);
        return 'rejected';
      case 'dropped':
        this.deadLetter('dropped-newest', path, message);
        return 'dropped';
      case 'displaced':
        this.deadLetter('dropped-oldest', path, offer.message);
        return 'accepted';
      case 'accepted':
        this.#ports.enqueue(cell);
        return 'accepted';
    }
  }

  deadLetter(reason: DeadLetterReason, path: string, message: unknown): void {
    this.#counts[reason] += 1;
    this.deadLetters.publish({ reason, path, message, atMs: this.#ports.nowMs() });
  }

  #tellNobody(path: string, message: unknown): TellOutcome {
    if (path.startsWith(ASK_PREFIX)) {
      if (this.#ports.asks.reply(path, message)) return 'accepted';
      this.deadLetter('late-reply', path, message);
    } else {
      this.deadLetter('no-such-actor', path, message);
    }
    return 'dead';
  }
}
