import type { KvRecord } from '../kv-record.js';
import type { Completion } from '../tablet-message.js';

/** One attempt to have one bucket take one batch. */
export interface PutAttempt {
  /** `host:port` as metadata names it. */
  readonly leader: string;
  readonly table: string;
  readonly bucket: number;
  /** At least one. */
  readonly records: readonly KvRecord[];
  readonly completion: Completion;
  /** Rises with every attempt of this writer: the server takes none that is not higher than all it has seen. */
  readonly number: number;
  readonly timeoutMs: number;
}

/** How an attempt, or a request for metadata, ended. */
export type Exchange =
  /** Whatever came; not checked. */
  | { readonly kind: 'response'; readonly response: unknown }
  /** No answer. What became of it is not known; it may be tried again. */
  | { readonly kind: 'lost'; readonly error: Error }
  /** Turned away by something that will do so again. */
  | { readonly kind: 'refused'; readonly error: Error };

/** Port: the way to the servers. `done` is called once per exchange, never before the call returns. */
export interface WriterTransport {
  put(attempt: PutAttempt, done: (end: Exchange) => void): void;
  /** Asks any server that is known for all tables. */
  describe(timeoutMs: number, done: (end: Exchange) => void): void;
  /** The servers that lead something; connections to others may go. */
  retain(leaders: ReadonlySet<string>): void;
  /** Ends every exchange and connection. */
  close(): void;
}

/** Port: one wake-up at a time. */
export interface WriterTimer {
  /** Calls `wake` once, after `delayMs` or more; replaces what was armed. `isIdle`: must not keep the process alive. */
  arm(delayMs: number, wake: () => void, isIdle: boolean): void;
  disarm(): void;
}

export interface WriterPorts {
  /** Monotonic, ms. */
  nowMs(): number;
  readonly timer: WriterTimer;
  /** Runs the function after what runs now, before anything else of this thread. */
  soon(run: () => void): void;
  /** Runs the function after what else there is for this thread to do now: what has come in, what has to go out. */
  turn(run: () => void): void;
  readonly transport: WriterTransport;
  /** In [0, 1). */
  random(): number;
  /** Calls `onAbort` once if `signal` aborts before the returned function is called. */
  watch(signal: AbortSignal, onAbort: () => void): () => void;
}
