import type { TimerMessage } from '../timer/timer-actor.js';
import type { ActorCell } from './actor-cell.js';
import type { TimerId } from './behavior.js';

const MAX_DELAY_MS = Number.MAX_SAFE_INTEGER;

type Owner = { readonly cell: ActorCell } | { readonly onDue: () => void };

export interface TimerLedgerPorts {
  readonly nowMs: () => number;
  /** Sends to the timer actor. */
  readonly tell: (message: TimerMessage) => void;
  /** Puts a due timer into its actor's mailbox. */
  readonly deliver: (cell: ActorCell, id: TimerId) => void;
}

/** Whose timer is whose: what lies between contexts and asks, which want timers, and the timer actor, which has them. */
export class TimerLedger {
  readonly #ports: TimerLedgerPorts;
  readonly #owners = new Map<TimerId, Owner>();
  #lastId = 0;

  constructor(ports: TimerLedgerPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#owners.size;
  }

  after(cell: ActorCell, delayMs: number, message: unknown): TimerId {
    return this.#own(cell, message, checkedDelay('delayMs', delayMs, 0), null);
  }

  every(cell: ActorCell, intervalMs: number, message: unknown): TimerId {
    checkedDelay('intervalMs', intervalMs, 1);
    return this.#own(cell, message, intervalMs, intervalMs);
  }

  /** Calls `onDue` once, at the deadline of an ask. */
  deadline(delayMs: number, onDue: () => void): TimerId {
    return this.#schedule({ onDue }, delayMs, null);
  }

  /** Also when it is due already and its message waits in the mailbox. Timers of other actors are left alone. */
  cancel(cell: ActorCell, id: TimerId): void {
    if (cell.timers.delete(id)) this.cancelDeadline(id);
  }

  cancelDeadline(id: TimerId): void {
    if (this.#owners.delete(id)) this.#ports.tell({ kind: 'cancel', id });
  }

  cancelAllOf(cell: ActorCell): void {
    for (const id of [...cell.timers.keys()]) this.cancel(cell, id);
  }

  /** From the timer actor: `id` is due. */
  fire(id: TimerId): void {
    const owner = this.#owners.get(id);
    // Cancelled while the timer actor was about to fire it.
    if (owner === undefined) return;
    if ('onDue' in owner) {
      this.#owners.delete(id);
      owner.onDue();
      return;
    }
    const timer = owner.cell.timers.get(id);
    if (timer === undefined || timer.queued) return;
    timer.queued = true;
    if (!timer.repeats) this.#owners.delete(id);
    this.#ports.deliver(owner.cell, id);
  }

  #own(cell: ActorCell, message: unknown, delayMs: number, intervalMs: number | null): TimerId {
    const id = this.#schedule({ cell }, delayMs, intervalMs);
    cell.timers.set(id, { message, repeats: intervalMs !== null, queued: false });
    return id;
  }

  #schedule(owner: Owner, delayMs: number, intervalMs: number | null): TimerId {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#owners.set(id, owner);
    this.#ports.tell({ kind: 'schedule', id, dueMs: this.#ports.nowMs() + delayMs, intervalMs });
    return id;
  }
}

/** NaN, Infinity and negative delays have become hot loops elsewhere: they are refused here. */
export function checkedDelay(name: string, delayMs: number, leastMs: number): number {
  if (typeof delayMs !== 'number' || !(delayMs >= leastMs && delayMs <= MAX_DELAY_MS)) {
    throw new RangeError(
      `${name} must be a number from ${leastMs} to ${MAX_DELAY_MS}, got ${String(delayMs)}`,
    );
  }
  return delayMs;
}
