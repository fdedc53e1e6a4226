import type { RecordedEvent, RuntimeState } from '../../../../workers/state/runtime-state.js';
import { reconnectDelayMs } from './model/backoff.js';
import type { Link } from './model/link-status.js';
import { SseParser } from './model/sse-parser.js';

export interface FeedOptions {
  /** Sent along as a bearer token. */
  readonly token: () => string | undefined;
  /** The number of the last event that is known, 0 for none. */
  readonly lastSeq: () => number;
  /** The first of a stream is whole, those after it tell what has changed since. */
  readonly state: (state: RuntimeState) => void;
  readonly record: (event: RecordedEvent) => void;
  readonly link: (kind: Link['kind']) => void;
}

/** The backend gives a sign of life at least every 15 s; twice that in silence is a connection that is gone. */
const SILENCE_MS = 30_000;
/** A stream that opens and tells nothing is held up on its way: states are asked for one by one instead. */
const FIRST_MS = 5000;
const POLL_MS = 2000;
/** Polls before the stream is tried again. */
const POLLS = 15;
const ANSWER_MS = 10_000;

type Ending = 'ended' | 'denied' | 'unavailable' | 'again';

/** States and events from the backend: as a stream, by polling where there is no stream, again and again. */
export class Feed {
  readonly #options: FeedOptions;
  #failures = 0;
  #stop: AbortController | undefined;
  #wake: (() => void) | undefined;
  #refreshing = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  async run(): Promise<never> {
    for (;;) {
      let ending = await this.#stream();
      if (ending === 'unavailable') ending = await this.#poll();
      if (ending === 'denied') {
        this.#options.link('denied');
        await this.#pause(undefined);
      } else if (ending === 'ended') {
        this.#options.link('down');
        this.#failures += 1;
        await this.#pause(reconnectDelayMs(this.#failures, Math.random()));
      }
    }
  }

  /** Tries again at once: there is a new token, or the reader is back. */
  again(): void {
    this.#failures = 0;
    this.#stop?.abort();
    this.#wake?.();
  }

  /** Asks for the whole state once, beside the stream. */
  async refresh(): Promise<void> {
    if (this.#refreshing) return;
    this.#refreshing = true;
    try {
      const state = await this.#ask();
      if (typeof state === 'object') this.#options.state(state);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    } finally {
      this.#refreshing = false;
    }
  }

  async #stream(): Promise<Ending> {
    const stop = new AbortController();
    this.#stop = stop;
    let told = false;
    let watch: ReturnType<typeof setTimeout> | undefined;
    const listen = (): void => {
      clearTimeout(watch);
      watch = setTimeout(() => stop.abort(), told ? SILENCE_MS : FIRST_MS);
    };
    try {
      if (!this.#isSendable()) return 'denied';
      listen();
      const last = this.#options.lastSeq();
      const headers = { accept: 'text/event-stream', ...this.#authorization() };
      const response = await fetch('events', {
        headers: last === 0 ? headers : { ...headers, 'last-event-id': String(last) },
        cache: 'no-store',
        signal: stop.signal,
      });
      const { body } = response;
      if (isDenied(response)) return 'denied';
      const type = response.headers.get('content-type') ?? '';
      if (!response.ok || body === null || !type.startsWith('text/event-stream')) {
        await body?.cancel();
        return 'unavailable';
      }
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new SseParser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return 'ended';
        if (told) listen();
        for (const { event, data } of parser.push(value)) {
          if (event === 'record') this.#options.record(JSON.parse(data));
          else if (event === 'state') {
            if (!told) {
              told = true;
              this.#failures = 0;
              listen();
              this.#options.link('stream');
            }
            this.#options.state(JSON.parse(data));
          }
        }
      }
    } catch {
      // Why is the browser's to say, in its network log; what matters here is whether anything was told.
      return told || !stop.signal.aborted || this.#stop !== stop ? 'ended' : 'unavailable';
    } finally {
      clearTimeout(watch);
      stop.abort();
    }
  }

  async #poll(): Promise<Ending> {
    for (let polls = 0; polls < POLLS; polls++) {
      const state = await this.#ask();
      if (typeof state !== 'object') return state;
      this.#failures = 0;
      this.#options.link('polling');
      this.#options.state(state);
      await this.#pause(POLL_MS);
    }
    return 'again';
  }

  async #ask(): Promise<RuntimeState | 'denied' | 'ended'> {
    try {
      const response = await fetch('state', {
        headers: { accept: 'application/json', ...this.#authorization() },
        cache: 'no-store',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      if (isDenied(response)) return 'denied';
      return response.ok ? await response.json() : 'ended';
    } catch {
      return 'ended';
    }
  }

  /** A header holds visible ASCII only; anything else is no token of any backend. */
  #isSendable(): boolean {
    return /^[\x21-\x7e]*$/.test(this.#options.token() ?? '');
  }

  #authorization(): { readonly authorization?: string } {
    const token = this.#options.token();
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** @param ms undefined: until `again()`. */
  async #pause(ms: number | undefined): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (ms !== undefined) timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }
}

function isDenied({ status }: Response): boolean {
  return status === 401 || status === 403;
}
