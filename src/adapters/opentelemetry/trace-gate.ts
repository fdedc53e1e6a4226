import type { Context, Span, Tracer } from '@opentelemetry/api';
import { isSpillwayError } from '../../shared/errors.js';
import type { Explained, Explanation } from '../../shared/explanation.js';
import { describeValue } from '../../shared/quota.js';
import type { Attempt } from '../../workers/attempt-run.js';
import type { CallOptions } from '../../workers/call-options.js';
import type { Gate } from '../../workers/gate.js';
import { checkKnown } from '../../workers/known-options.js';
import { packageVersion } from '../../workers/package-version.js';
import { isThenable } from '../../workers/thenable.js';
import { loadOpenTelemetry, type OpenTelemetryApi } from './peer.js';
import { attemptAttributes, callAttributes, outcomeAttributes } from './span-attributes.js';

export interface TraceOptions {
  /** Default: the global provider's, by the name `spillway`. */
  readonly tracer?: Tracer;
}

const OPTIONS: ReadonlySet<string> = new Set<keyof TraceOptions>(['tracer']);

/** What of a gate is traced. It goes wherever an adapter takes a gate. */
export type TracedGate = Pick<Gate, 'call'>;

/**
 * The gate's `call`, with a span for each call and one for each attempt, which is active inside the attempt. The gate itself
 * stays as it is, and free of all cost. Calls that are not sampled are not explained, either. A tracer, or a span, that throws
 * changes nothing of a call but what is seen of it.
 * @throws Error without the peer; TypeError for what is no gate or no tracer.
 */
export function traceGate(gate: TracedGate, options: TraceOptions = {}): TracedGate {
  const api = loadOpenTelemetry();
  if (typeof gate?.call !== 'function')
    throw new TypeError(`gate must be a gate, got ${describeValue(gate)}`);
  checkKnown(options, OPTIONS);
  const { tracer = api.trace.getTracer('spillway', packageVersion()) } = options;
  if (typeof tracer?.startSpan !== 'function')
    throw new TypeError(`tracer must be a tracer, got ${describeValue(tracer)}`);
  // Rejects with what a getter of the options throws, as the gate does.
  const call = async <T>(
    callOptions: CallOptions<T>,
    attempt: Attempt<T>,
  ): Promise<T | Explained<T>> => {
    // The gate says what is wrong.
    if (typeof callOptions !== 'object' || callOptions === null || typeof attempt !== 'function')
      return gate.call(callOptions, attempt);
    const trace = unlessItThrows(() => new CallTrace(api, tracer, callOptions));
    if (trace === undefined) return gate.call(callOptions, attempt);
    return trace.run(gate, callOptions, attempt);
  };
  return { call: call as TracedGate['call'] };
}

class CallTrace {
  readonly #api: OpenTelemetryApi;
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  readonly #isRecording: boolean;
  /** Attempts that have not ended. */
  readonly #open = new Set<Span>();

  constructor(api: OpenTelemetryApi, tracer: Tracer, options: CallOptions<never>) {
    const attributes = callAttributes(options);
    this.#api = api;
    this.#tracer = tracer;
    this.#span = tracer.startSpan(`spillway.call ${attributes['spillway.rpc']}`, { attributes });
    this.#isRecording = this.#span.isRecording();
    this.#context = api.trace.setSpan(api.context.active(), this.#span);
  }

  async run<T>(
    gate: TracedGate,
    options: CallOptions<T>,
    attempt: Attempt<T>,
  ): Promise<T | Explained<T>> {
    const { context } = this.#api;
    if (!this.#isRecording) {
      try {
        return await context.with(this.#context, () => gate.call(options, attempt));
      } finally {
        unlessItThrows(() => this.#span.end());
      }
    }
    // What is no boolean is refused by the gate.
    const explain = options.explain === false || options.explain === undefined;
    const explained = { ...options, ...(explain && { explain: true }) } as CallOptions<T> & {
      readonly explain: true;
    };
    try {
      const traced: Attempt<T> = (given) => this.#attempt(given.attempt, () => attempt(given));
      const result = await context.with(this.#context, () => gate.call(explained, traced));
      unlessItThrows(() => this.#explain(result.explanation));
      return explain ? result.value : result;
    } catch (error) {
      unlessItThrows(() => {
        // The reason of a signal may bring the explanation of the call that it comes from.
        const { signal } = options;
        const isReason = signal?.aborted === true && error === signal.reason;
        if (!isReason && isExplained(error)) this.#explain(error.explanation);
      });
      this.#fail(this.#span, error);
      throw error;
    } finally {
      for (const left of this.#open)
        unlessItThrows(() => left.setAttribute('spillway.left_behind', true).end());
      // Whoever settles now comes too late: its span has ended.
      this.#open.clear();
      unlessItThrows(() => this.#span.end());
    }
  }

  #attempt<T>(number: number, run: () => Promise<T> | T): Promise<T> | T {
    const attributes = { 'spillway.attempt': number };
    const span = unlessItThrows(() =>
      this.#tracer.startSpan('spillway.attempt', { attributes }, this.#context),
    );
    if (span === undefined) return this.#api.context.with(this.#context, run);
    this.#open.add(span);
    const end = (): void => {
      if (this.#open.delete(span)) unlessItThrows(() => span.end());
    };
    const fail = (error: unknown): void => {
      if (this.#open.has(span)) this.#fail(span, error);
      end();
    };
    let running: Promise<T> | T;
    try {
      running = this.#api.context.with(this.#api.trace.setSpan(this.#context, span), run);
    } catch (error) {
      fail(error);
      throw error;
    }
    if (!isThenable(running)) {
      end();
      return running;
    }
    return running.then(
      (value) => {
        end();
        return value;
      },
      (error: unknown) => {
        fail(error);
        throw error;
      },
    );
  }

  #explain(explanation: Explanation): void {
    for (const attempt of explanation.attempts)
      this.#span.addEvent('spillway.attempt', attemptAttributes(attempt));
    this.#span.setAttributes(outcomeAttributes(explanation));
  }

  #fail(span: Span, error: unknown): void {
    unlessItThrows(() => {
      const { message, code } = describeError(error);
      span.recordException(error instanceof Error ? error : message);
      span.setAttribute('error.type', code);
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message });
    });
  }
}

/** For what a call must not depend on: a tracer, and errors of which not even the message can be read. */
function unlessItThrows<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Errors of others may have a property of that name. */
function isExplained(error: unknown): error is { readonly explanation: Explanation } {
  if (!(error instanceof Error)) return false;
  const { explanation } = error as { explanation?: Partial<Explanation> | null };
  return typeof explanation === 'object' && Array.isArray(explanation?.attempts);
}

function describeError(error: unknown): { readonly message: string; readonly code: string } {
  if (isSpillwayError(error)) return { message: error.message, code: error.code };
  if (!(error instanceof Error)) return { message: describeValue(error), code: typeof error };
  const { code } = error as { code?: unknown };
  return { message: error.message, code: typeof code === 'string' ? code : error.name };
}
