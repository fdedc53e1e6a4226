/**
 * The control thread's watch over the attached threads. Each gave us one end of a channel; it closes when the thread ends
 * in whatever way. Threads that were attached before this control thread offer anew; those that do not are asked for.
 */
import { type MessagePort, postMessageToThread } from 'node:worker_threads';
import type { Notice, Offer, Probe, Reply, Request } from './messages.js';
import type { ClaimedPlace, ThreadRegistry } from './thread-registry.js';

export interface WatchHandlers {
  /** A thread that no control thread has watched before is watched from now on. */
  attached(threadId: number | null): void;
  /** A thread has ended, or left; its place is still claimed. `threadId` null: it has not said. */
  ended(place: ClaimedPlace, threadId: number | null): void;
  request(request: Request, answer: (reply: Reply) => void): void;
}

/** A place that nobody watches and whose owner has not even said its name is given up after this. */
const UNNAMED_MS = 10_000;
const PROBE_TIMEOUT_MS = 200;

export class ThreadWatch {
  readonly #registry: ThreadRegistry;
  readonly #runtimeId: string;
  readonly #generation: number;
  readonly #handlers: WatchHandlers;
  readonly #ports = new Map<number, { readonly claim: number; readonly port: MessagePort }>();
  /** Since when a place has been without a name, by index. */
  readonly #unnamed = new Map<number, { readonly claim: number; readonly sinceMs: number }>();

  constructor(
    registry: ThreadRegistry,
    runtimeId: string,
    generation: number,
    handlers: WatchHandlers,
  ) {
    this.#registry = registry;
    this.#runtimeId = runtimeId;
    this.#generation = generation;
    this.#handlers = handlers;
  }

  /** Takes an offer; anything else that comes by `postMessageToThread` is not ours. */
  receive(message: unknown): void {
    const offer = message as Offer | undefined;
    if (offer?.spillway !== 'offer' || offer.runtimeId !== this.#runtimeId) return;
    const { index, claim, port } = offer;
    port.on('message', (request: Request) => {
      this.#handlers.request(request, (reply) => port.postMessage(reply));
    });
    port.on('close', () => {
      if (this.#ports.get(index)?.port !== port) return;
      this.#ports.delete(index);
      this.#handlers.ended({ index, claim }, threadId);
    });
    const threadId = this.#registry.ownerOf(index) ?? null;
    this.#ports.set(index, { claim, port });
    // A successor watches anew whom its predecessor has greeted.
    const isNew = this.#registry.watchedBy(index) === 0;
    this.#registry.watch(index, this.#generation);
    if (isNew) this.#handlers.attached(threadId);
    port.postMessage({ kind: 'watched' } satisfies Notice);
  }

  tell(notice: Notice): void {
    for (const { port } of this.#ports.values()) port.postMessage(notice);
  }

  /** Looks for threads that ended while nobody watched them. Call it now and then. @returns whether any is unwatched. */
  look(nowMs: number): boolean {
    const strangers = this.#registry.attached().filter((index) => !this.#watches(index));
    for (const index of strangers) {
      const claim = this.#registry.claimOf(index);
      const owner = this.#registry.ownerOf(index);
      if (owner === undefined) this.#giveUpUnnamed(index, claim, nowMs);
      else this.#probe(index, claim, owner);
    }
    return strangers.length > 0;
  }

  close(): void {
    for (const { port } of this.#ports.values()) port.close();
    this.#ports.clear();
  }

  #watches(index: number): boolean {
    return this.#ports.get(index)?.claim === this.#registry.claimOf(index);
  }

  #probe(index: number, claim: number, owner: number): void {
    const probe: Probe = { spillway: 'probe' };
    postMessageToThread(owner, probe, [], PROBE_TIMEOUT_MS).catch((error: { code?: string }) => {
      // No such thread. A time-out is a thread that is busy.
      if (error.code !== 'ERR_WORKER_MESSAGING_FAILED' || this.#watches(index)) return;
      this.#handlers.ended({ index, claim }, owner);
    });
  }

  #giveUpUnnamed(index: number, claim: number, nowMs: number): void {
    const known = this.#unnamed.get(index);
    if (known?.claim !== claim) this.#unnamed.set(index, { claim, sinceMs: nowMs });
    else if (nowMs - known.sinceMs >= UNNAMED_MS) this.#handlers.ended({ index, claim }, null);
  }
}
