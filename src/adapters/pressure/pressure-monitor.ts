/**
 * What a server says to one request about its pressure. A source that throws or says what is no number counts for nothing, and
 * is reported once: no request fails because of what was only to watch it.
 */
import { describeValue } from '../../shared/quota.js';
import { thrownText } from '../../shared/thrown-text.js';
import { checkKnown } from '../../workers/known-options.js';
import { isThenable } from '../../workers/thenable.js';
import { checkMs } from '../../workers/wait-options.js';
import type { PressureSource } from './pressure-source.js';

export interface ServerPressureOptions<Request> {
  /** One or several, of which the highest counts. */
  readonly source: PressureSource | readonly PressureSource[];
  /** Part of the server that the request is for, such as a shard; the sources are asked for its pressure. Default: none. */
  readonly bucket?: (request: Request) => string | undefined;
  /** Requests that are never refused and are told nothing, such as those for its health. Default: none. */
  readonly exempt?: (request: Request) => boolean;
  /** Pressure from which on requests are refused, above 0; Infinity: never. Default: 1. */
  readonly hardLimit?: number;
  /** When those who were refused shall come back, ms. Default: 1000. */
  readonly retryAfterMs?: number;
  /** Told the first time that a source or a callback has failed. Default: a process warning. */
  readonly onFault?: (error: unknown) => void;
}

const OPTIONS: ReadonlySet<string> = new Set<keyof ServerPressureOptions<unknown>>([
  'source',
  'bucket',
  'exempt',
  'hardLimit',
  'retryAfterMs',
  'onFault',
]);

/** What one request asks about. */
export interface Watched {
  readonly bucket: string | undefined;
}

export class PressureMonitor<Request> {
  readonly retryAfterMs: number;
  readonly #sources: readonly PressureSource[];
  readonly #options: ServerPressureOptions<Request>;
  readonly #hardLimit: number;
  readonly #faulty = new Set<unknown>();
  #stops: (() => void)[] = [];

  /** @throws TypeError, RangeError for bad options. */
  constructor(options: ServerPressureOptions<Request>) {
    checkKnown(options, OPTIONS);
    const { source, hardLimit = 1 } = options;
    const sources: readonly unknown[] = Array.isArray(source) ? [...source] : [source];
    const wrong = sources.find(
      (one) => typeof (one as PressureSource | null)?.pressure !== 'function',
    );
    if (sources.length === 0 || sources.includes(wrong))
      throw new TypeError(
        `source must be one or more objects with a pressure(), got ${describeValue(wrong)}`,
      );
    for (const name of ['bucket', 'exempt', 'onFault'] as const) {
      const callback: unknown = options[name];
      if (callback !== undefined && typeof callback !== 'function')
        throw new TypeError(`${name} must be a function, got ${describeValue(callback)}`);
    }
    if (typeof hardLimit !== 'number')
      throw new TypeError(`hardLimit must be a number, got ${describeValue(hardLimit)}`);
    if (!(hardLimit > 0)) throw new RangeError(`hardLimit must be above 0, got ${hardLimit}`);
    this.retryAfterMs = checkMs(options.retryAfterMs, 'retryAfterMs') ?? 1000;
    this.#sources = sources as readonly PressureSource[];
    this.#options = { ...options };
    this.#hardLimit = hardLimit;
  }

  /** The server begins. @throws what a source throws, TypeError when it gives no function; none has been started then. */
  start(): void {
    try {
      for (const source of this.#sources) {
        const stop: unknown = source.start?.();
        if (stop === undefined) continue;
        if (typeof stop !== 'function') {
          passOver(stop);
          throw new TypeError(
            `start() of a source must return a function, got ${describeValue(stop)}`,
          );
        }
        this.#stops.push(stop as () => void);
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** A source that fails to stop is reported, and keeps no other from it. */
  close(): void {
    for (const stop of this.#stops.splice(0)) this.#ask(stop, () => passOver(stop()));
  }

  /** undefined: the request is exempt. */
  watch(request: Request): Watched | undefined {
    const { exempt, bucket } = this.#options;
    if (this.#ask(exempt, () => atOnce('exempt', exempt?.(request))) === true) return undefined;
    const named = this.#ask(bucket, () => atOnce('bucket', bucket?.(request)));
    return { bucket: typeof named === 'string' ? named : undefined };
  }

  /** Now, from 0 to 1. */
  pressure({ bucket }: Watched): number {
    let highest = 0;
    for (const source of this.#sources) {
      const pressure = this.#ask(source, () => {
        const said: unknown = source.pressure(bucket);
        if (typeof said === 'number' && !Number.isNaN(said)) return said;
        passOver(said);
        const came = typeof said === 'number' ? String(said) : describeValue(said);
        throw new TypeError(`a source must return a pressure from 0 to 1, got ${came}`);
      });
      if (pressure !== undefined && pressure > highest) highest = pressure;
    }
    return Math.min(highest, 1);
  }

  refuses(pressure: number): boolean {
    return pressure >= this.#hardLimit;
  }

  /** `about`: what is asked, which is reported once. */
  #ask<T>(about: unknown, ask: () => T): T | undefined {
    try {
      return ask();
    } catch (error) {
      if (!this.#faulty.has(about)) {
        this.#faulty.add(about);
        this.#report(error);
      }
      return undefined;
    }
  }

  #report(error: unknown): void {
    const { onFault } = this.#options;
    if (onFault === undefined) {
      const message = `a source of pressure counts for nothing: ${thrownText(error)}`;
      process.emitWarning(message, 'SpillwayWarning');
      return;
    }
    try {
      passOver(onFault(error));
    } catch {
      // Its own affair.
    }
  }
}

/** @throws TypeError for an answer that takes time to come: the request does not wait for it. */
function atOnce<T>(name: string, said: T): T {
  if (!isThenable<unknown>(said)) return said;
  passOver(said);
  throw new TypeError(`${name} must return at once, got a promise`);
}

/** Nobody waits for it: should it be a promise that is rejected, then that must not end the process. */
function passOver(returned: unknown): void {
  if (isThenable<unknown>(returned)) returned.then(undefined, () => undefined);
}
