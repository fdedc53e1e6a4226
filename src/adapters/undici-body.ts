/** What the interceptor has to know of a request's body; it never reads one. */
import type { Readable } from 'node:stream';

/** Whether a body can be sent once more. */
export function isReplayable(body: unknown): boolean {
  if (body === null || body === undefined || typeof body === 'string') return true;
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return true;
  // By their tags: undici has classes of its own.
  return /^\[object (?:Blob|File|FormData)\]$/.test(Object.prototype.toString.call(body));
}

/**
 * Tells when a stream can no longer be sent: undici listens to it only once the request goes out, and an error that nobody
 * listens for would end the process. @returns what ends the listening.
 */
export function watchUnsentBody(body: unknown, onLost: (error: Error) => void): () => void {
  if (!isStream(body)) return () => {};
  const lost = (error?: Error): void => {
    stop();
    onLost(error ?? new DOMException('The body was destroyed before it was sent', 'AbortError'));
  };
  const onClose = (): void => lost();
  const stop = (): void => {
    body.off('error', lost);
    body.off('close', onClose);
  };
  body.on('error', lost);
  body.on('close', onClose);
  return stop;
}

export interface WatchedBody {
  /** To be sent in place of the original. */
  readonly body: unknown;
  /** Whether an error is the body's own, and no fault of the peer. */
  isOwnFault(error: unknown): boolean;
}

export function watchSentBody(body: unknown): WatchedBody {
  if (isStream(body)) return { body, isOwnFault: (error) => body.errored === error };
  if (!isAsyncIterable(body)) return { body, isOwnFault: () => false };
  let fault: { readonly error: unknown } | undefined;
  const watched: AsyncIterable<unknown> = {
    async *[Symbol.asyncIterator]() {
      try {
        yield* body;
      } catch (error) {
        fault = { error };
        throw error;
      }
    },
  };
  return { body: watched, isOwnFault: (error) => fault !== undefined && fault.error === error };
}

function isStream(body: unknown): body is Readable {
  const { pipe, on } = (body ?? {}) as Partial<Readable>;
  return typeof pipe === 'function' && typeof on === 'function';
}

function isAsyncIterable(body: unknown): body is AsyncIterable<unknown> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}
