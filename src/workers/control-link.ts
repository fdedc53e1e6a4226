/**
 * An attached thread's line to the control thread. It hands over one end of a channel; when the thread ends in whatever
 * way, the other end closes and the control thread sweeps what it held. When the control thread ends, our end closes and
 * the offer is made anew to its successor, with all requests that have no answer yet. Nothing here keeps a thread alive
 * but a request under way.
 */
import { MessageChannel, type MessagePort, postMessageToThread } from 'node:worker_threads';
import type { Arena } from '../shared/arena.js';
import { RuntimeClosedError } from '../shared/errors.js';
import { STATE_WORD } from '../shared/kernel/port.js';
import { HEADER } from '../shared/layout.js';
import { cloneOptions } from './config/clone-options.js';
import { decodeError } from './error-codec.js';
import type { RuntimeHandle } from './handle.js';
import type { Notice, Offer, Probe, Reply, Request, RequestBody } from './messages.js';
import type { ClaimedPlace } from './thread-registry.js';

export interface LinkHandlers {
  /** Limits or settings have changed. */
  changed(): void;
  /** The thread is asked to pass a quiescent point. */
  quiesce(): void;
  /** The runtime is closed, or its owner is gone. */
  closed(): void;
}

const RETRY_MS = 50;
/** Without a control thread for this many tries, ask whether the owner still lives: 2 s. */
const TRIES_BEFORE_DOUBT = 40;

interface Pending {
  readonly request: Request;
  readonly resolve: (version: number) => void;
  readonly reject: (error: unknown) => void;
}

export class ControlLink {
  readonly #arena: Arena;
  readonly #handle: RuntimeHandle;
  readonly #place: ClaimedPlace;
  readonly #handlers: LinkHandlers;
  readonly #pending = new Map<number, Pending>();
  #port: MessagePort | undefined;
  #watched = false;
  #retry: NodeJS.Timeout | undefined;
  #tries = 0;
  #lastId = 0;
  #closed = false;

  constructor(arena: Arena, handle: RuntimeHandle, place: ClaimedPlace, handlers: LinkHandlers) {
    this.#arena = arena;
    this.#handle = handle;
    this.#place = place;
    this.#handlers = handlers;
    this.#offer();
  }

  /** Asks the control thread, or its successor. @returns the version of the configuration that is then in force. */
  request(body: RequestBody): Promise<number> {
    if (this.#closed) return Promise.reject(new RuntimeClosedError());
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      // Cloned here, so that what cannot be cloned is the caller's error, and later changes of it are not ours.
      const request: Request = { ...cloned(body), id: this.#lastId };
      if (this.#watched) this.#port?.postMessage(request);
      this.#pending.set(request.id, { request, resolve, reject });
      this.#hold();
    });
  }

  /** Lets go of the control thread; requests under way are rejected. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#port?.close();
    for (const { reject } of this.#pending.values()) reject(new RuntimeClosedError());
    this.#pending.clear();
  }

  #offer(): void {
    const threadId = Atomics.load(this.#arena.i32, HEADER.CONTROL_THREAD >>> 2);
    if (threadId === 0) {
      this.#later();
      return;
    }
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#watched = false;
    port1.on('message', (message: Notice | Reply) => this.#receive(message));
    port1.on('close', () => {
      if (this.#port !== port1) return;
      this.#port = undefined;
      this.#watched = false;
      this.#later();
    });
    this.#hold();
    const { index, claim } = this.#place;
    const offer: Offer = {
      spillway: 'offer',
      runtimeId: this.#handle.runtimeId,
      index,
      claim,
      port: port2,
    };
    // A control thread that is just ending is no error: its end of the channel closes, or it is not there any more.
    postMessageToThread(threadId, offer, [port2]).catch(() => port1.close());
  }

  #later(): void {
    if (this.#closed) return;
    if (Atomics.load(this.#arena.i32, STATE_WORD >>> 2) !== 0) {
      this.#handlers.closed();
      return;
    }
    this.#tries += 1;
    if (this.#tries % TRIES_BEFORE_DOUBT === 0 && this.#handle.ownerThreadId !== 0) this.#doubt();
    this.#retry = setTimeout(() => this.#offer(), RETRY_MS);
    this.#hold();
  }

  /** An owner that has ended takes the control thread with it, and nobody starts another. */
  #doubt(): void {
    const probe: Probe = { spillway: 'probe' };
    postMessageToThread(this.#handle.ownerThreadId, probe, [], RETRY_MS).catch(
      (error: { code?: string }) => {
        if (error.code === 'ERR_WORKER_MESSAGING_FAILED') this.#handlers.closed();
      },
    );
  }

  #receive(message: Notice | Reply): void {
    switch (message.kind) {
      case 'watched':
        this.#watched = true;
        this.#tries = 0;
        for (const { request } of this.#pending.values()) this.#port?.postMessage(request);
        // What changed while nobody told us.
        this.#handlers.changed();
        break;
      case 'changed':
        this.#handlers.changed();
        break;
      case 'quiesce':
        this.#handlers.quiesce();
        break;
      case 'closed':
        this.#handlers.closed();
        break;
      case 'reply':
        this.#take(message.id)?.resolve(message.version);
        break;
      case 'failed':
        this.#take(message.id)?.reject(decodeError(message.error));
        break;
    }
    this.#hold();
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  /** Keeps the thread alive while, and only while, somebody waits for an answer. */
  #hold(): void {
    const busy = this.#pending.size > 0;
    if (busy) {
      this.#port?.ref();
      this.#retry?.ref();
    } else {
      this.#port?.unref();
      this.#retry?.unref();
    }
  }
}

function cloned(body: RequestBody): RequestBody {
  return body.kind === 'update'
    ? { ...body, patch: cloneOptions(body.patch) }
    : { kind: 'reload', options: cloneOptions(body.options) };
}
