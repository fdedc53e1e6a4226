import {
  context,
  diag,
  INVALID_SPAN_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TracedGate, traceGate } from '../../src/adapters/opentelemetry/trace-gate.js';
import { BusyError, CircuitOpenError, RateLimitExceededError } from '../../src/shared/errors.js';
import { createVirtualGates, ended, type VirtualGates } from '../workers/virtual-gate.js';

let exporter: InMemorySpanExporter;
let provider: BasicTracerProvider;
let gates: VirtualGates;

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  exporter = new InMemorySpanExporter();
  provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  gates = createVirtualGates({
    host: { rpcs: { read: { qpsPerCore: 10, burst: 1 }, free: { qpsPerCore: 0 } } },
    retry: { baseDelayMs: 100, maxDelayMs: 100 },
    breaker: { failureThreshold: 1 },
  });
});
afterEach(() => {
  context.disable();
});

function traced(): TracedGate {
  return traceGate(gates.gate({ random: () => 1 }), { tracer: provider.getTracer('test') });
}

const spans = (name: string): ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => span.name === name);
const only = (name: string): ReadableSpan => {
  const [span, ...more] = spans(name);
  if (span === undefined || more.length > 0) throw new Error(`not one span ${name}`);
  return span;
};

function raise(reason: unknown): never {
  throw reason;
}

describe('a traced gate', () => {
  it('gives what the call gives, and a span that says what held it', async () => {
    const gate = traced();
    await gate.call({ rpc: 'read', table: 7n, address: '10.0.0.7:1' }, () => 'first');
    const held = gate.call({ rpc: 'read', table: 7n }, async () => 'second');
    expect(await ended(gates, held)).toBe('second');
    const [first, second] = spans('spillway.call read');
    expect(first?.attributes).toEqual({
      'spillway.rpc': 'read',
      'spillway.table': '7',
      'spillway.address': '10.0.0.7:1',
      'spillway.config_version': 1,
      'spillway.attempts': 1,
      'spillway.waited_ms': 0,
      'spillway.waited_ms.host': 0,
      'spillway.waited_ms.circuit': 0,
      'spillway.verdict': 'success',
    });
    expect(first?.status.code).toBe(SpanStatusCode.UNSET);
    expect(second?.attributes).toMatchObject({
      'spillway.waited_ms': 100,
      'spillway.waited_ms.host': 100,
    });
  });

  it('has a span for each attempt, under which the spans of the attempt are', async () => {
    const gate = traced();
    const tracer = provider.getTracer('own');
    let outer: Span | undefined;
    await tracer.startActiveSpan('outer', async (span) => {
      outer = span;
      await gate.call({ rpc: 'free' }, async () => {
        await Promise.resolve();
        tracer.startSpan('inner').end();
      });
      span.end();
    });
    const call = only('spillway.call free');
    const attempt = only('spillway.attempt');
    expect(call.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
    expect(attempt.parentSpanContext?.spanId).toBe(call.spanContext().spanId);
    expect(only('inner').parentSpanContext?.spanId).toBe(attempt.spanContext().spanId);
    expect(attempt.attributes).toEqual({ 'spillway.attempt': 1 });
  });

  it('tells the attempts of a call apart, with what each came to', async () => {
    const gate = traced();
    let tries = 0;
    const call = gate.call({ rpc: 'free', retry: { maxAttempts: 3 } }, async () => {
      tries += 1;
      if (tries < 3) throw new BusyError('later');
      return tries;
    });
    expect(await ended(gates, call)).toBe(3);
    const span = only('spillway.call free');
    expect(span.events.map(({ attributes }) => attributes)).toMatchObject([
      { 'spillway.attempt': 1, 'spillway.verdict': 'busy', 'spillway.backoff_ms': 100 },
      { 'spillway.attempt': 2, 'spillway.verdict': 'busy', 'spillway.backoff_ms': 100 },
      { 'spillway.attempt': 3, 'spillway.verdict': 'success' },
    ]);
    expect(span.attributes).toMatchObject({
      'spillway.attempts': 3,
      'spillway.backoff_ms': 200,
      'spillway.verdict': 'success',
    });
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(
      spans('spillway.attempt').map(({ status, attributes }) => [
        attributes['spillway.attempt'],
        status.code,
        attributes['error.type'],
      ]),
    ).toEqual([
      [1, SpanStatusCode.ERROR, 'ERR_SPILLWAY_BUSY'],
      [2, SpanStatusCode.ERROR, 'ERR_SPILLWAY_BUSY'],
      [3, SpanStatusCode.UNSET, undefined],
    ]);
  });

  it('says who refused a call, and when it may come again', async () => {
    const gate = traced();
    await gate.call({ rpc: 'read' }, () => 'first');
    const refused = gate.call({ rpc: 'read', maxWaitMs: 0 }, () => 'second');
    await expect(refused).rejects.toThrow(RateLimitExceededError);
    const failing = gate.call({ rpc: 'free', address: 'a:1' }, () => {
      throw new TypeError('no');
    });
    await expect(failing).rejects.toThrow('no');
    const open = gate.call({ rpc: 'free', address: 'a:1' }, () => 'never');
    await expect(open).rejects.toThrow(CircuitOpenError);
    const [, limited] = spans('spillway.call read');
    const [failed, circuit] = spans('spillway.call free');
    expect(limited?.attributes).toMatchObject({
      'spillway.attempts': 0,
      'spillway.refused_by': 'host',
      'spillway.retry_after_ms': 100,
      'error.type': 'ERR_SPILLWAY_RATE_LIMIT_EXCEEDED',
    });
    expect(limited?.status.code).toBe(SpanStatusCode.ERROR);
    expect(failed?.attributes).toMatchObject({
      'spillway.verdict': 'failure',
      'error.type': 'TypeError',
    });
    expect(failed?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no' });
    expect(failed?.events.map(({ name }) => name)).toEqual(['spillway.attempt', 'exception']);
    expect(circuit?.attributes).toMatchObject({
      'spillway.refused_by': 'circuit',
      'spillway.retry_after_ms': 30_000,
    });
    expect(spans('spillway.attempt')).toHaveLength(2);
  });

  it('passes options, signal and attempt on, and gives explanations to who wants them', async () => {
    const gate = traced();
    const controller = new AbortController();
    const { signal } = controller;
    const explained = await gate.call({ rpc: 'free', signal, explain: true }, (given) => [
      given.signal === signal,
      given.attempt,
    ]);
    expect(explained.value).toEqual([true, 1]);
    expect(explained.explanation.attempts).toHaveLength(1);
    controller.abort('gone');
    await expect(gate.call({ rpc: 'free', signal }, () => 1)).rejects.toBe('gone');
    const [, aborted] = spans('spillway.call free');
    expect(aborted?.status.message).toBe("'gone'");
    expect(aborted?.attributes['error.type']).toBe('string');
  });

  it('does not take the explanation of another call, which aborts this one, for its own', async () => {
    const gate = traced();
    const controller = new AbortController();
    const other: unknown = await gate
      .call({ rpc: 'free' }, () => Promise.reject(new BusyError('other')))
      .catch((error: unknown) => error);
    expect(other).toHaveProperty('explanation');
    const { signal } = controller;
    const aborted = gate.call({ rpc: 'free', signal }, () => {
      controller.abort(other);
      throw signal.reason;
    });
    await expect(aborted).rejects.toBe(other);
    const [, span] = spans('spillway.call free');
    expect(span?.events.map(({ name }) => name)).toEqual(['exception']);
    expect(span?.attributes).not.toHaveProperty('spillway.attempts');
  });

  it('refuses with the words of the gate what is no call', async () => {
    const gate = traced();
    await expect(gate.call(null as never, () => 1)).rejects.toThrow(
      'options must be an object with an rpc, got null',
    );
    await expect(gate.call({ rpc: 'free' }, 5 as never)).rejects.toThrow(
      'attempt must be a function',
    );
    await expect(gate.call({ rpc: 'free', explain: 'yes' as never }, () => 1)).rejects.toThrow(
      "explain must be true or false, got 'yes'",
    );
    await expect(gate.call({ rpc: 'none' }, () => 1)).rejects.toThrow(/^rpc must be one of /);
    expect(only('spillway.call none').status.code).toBe(SpanStatusCode.ERROR);
  });

  it('ends the span of an attempt that was left behind with the call', async () => {
    const gate = traced();
    const call = gate.call({ rpc: 'free', attemptTimeoutMs: 50 }, () => new Promise(() => {}));
    await expect(ended(gates, call)).rejects.toThrow('was left behind after 50 ms');
    expect(only('spillway.attempt').attributes).toEqual({
      'spillway.attempt': 1,
      'spillway.left_behind': true,
    });
    expect(only('spillway.call free').attributes).toMatchObject({ 'spillway.verdict': 'failure' });
  });

  it('ends every span once, also of attempts that settle after their call', async () => {
    const complaints: unknown[] = [];
    const complain = (...about: unknown[]) => void complaints.push(about);
    const logger = { error: complain, warn: complain, info: complain, debug: complain };
    diag.setLogger({ ...logger, verbose: complain }, { suppressOverrideMessage: true });
    const gate = traced();
    const settle: { late: () => void }[] = [];
    const call = (attempt: () => Promise<unknown>) =>
      ended(gates, gate.call({ rpc: 'free', attemptTimeoutMs: 50 }, attempt));
    const fulfilled = call(() => new Promise((late) => settle.push({ late: () => late(1) })));
    await expect(fulfilled).rejects.toThrow('was left behind');
    const failed = call(
      () => new Promise((_, fail) => settle.push({ late: () => fail(new Error('late')) })),
    );
    await expect(failed).rejects.toThrow('was left behind');
    for (const { late } of settle) late();
    await new Promise((resolve) => setImmediate(resolve));
    expect(settle).toHaveLength(2);
    expect(spans('spillway.attempt')).toHaveLength(2);
    expect(spans('spillway.attempt').flatMap(({ events }) => events)).toEqual([]);
    expect(complaints).toEqual([]);
    diag.disable();
  });

  it('explains nothing of a call that is not sampled, and keeps its context', async () => {
    const off = new BasicTracerProvider({ sampler: new AlwaysOffSampler() });
    const asked: unknown[] = [];
    const gate = gates.gate();
    const spy: TracedGate = {
      call: ((options: never, attempt: never) => {
        asked.push(options);
        return gate.call(options, attempt);
      }) as TracedGate['call'],
    };
    const options = { rpc: 'free' };
    const seen = await traceGate(spy, { tracer: off.getTracer('off') }).call(options, () =>
      trace.getActiveSpan()?.isRecording(),
    );
    expect(seen).toBe(false);
    expect(asked).toEqual([options]);
    expect(asked[0]).toBe(options);
  });

  it('ends the span of a call that is not sampled, however the call ends', async () => {
    let [started, over] = [0, 0];
    const tracer = {
      startSpan: () => {
        started += 1;
        return Object.assign(trace.wrapSpanContext(INVALID_SPAN_CONTEXT), { end: () => over++ });
      },
      startActiveSpan: () => undefined,
    };
    const gate = traceGate(gates.gate(), { tracer: tracer as never });
    await gate.call({ rpc: 'free' }, () => 1);
    await expect(gate.call({ rpc: 'none' }, () => 1)).rejects.toThrow(/^rpc must be one of /);
    expect([started, over]).toEqual([2, 2]);
  });

  it('rejects, as the gate does, what cannot be told in a span', async () => {
    const hostile = {
      get rpc(): string {
        throw new Error('no rpc');
      },
    };
    const nothing: unknown = Object.create(null);
    for (const options of [{ rpc: 'free', table: nothing }, { rpc: nothing }, hostile]) {
      const reason = (gate: TracedGate): Promise<unknown> =>
        gate
          .call(options as never, () => 1)
          .then(
            () => 'let through',
            (error: unknown) => String(error),
          );
      const told = await reason(traced());
      expect(told).toMatch(/Error: /);
      expect(told).toBe(await reason(gates.gate()));
    }
  });

  const broken = (): never => {
    throw new Error('the exporter is gone');
  };
  const brokenSpan = (...works: string[]) =>
    new Proxy({} as Span, {
      get: (_, name) => (works.includes(String(name)) ? () => true : broken),
    });
  it.each([
    ['a tracer that throws', broken],
    ['a tracer that gives no span', () => null],
    ['spans that do nothing but throw', () => brokenSpan()],
    ['spans that can only be made', () => brokenSpan('isRecording')],
    ['spans that cannot be ended', () => brokenSpan('isRecording', 'setAttribute', 'addEvent')],
    ['spans that are not recorded and cannot be ended', () => ({ isRecording: () => false })],
  ])('lets calls end as they would with %s', async (_what, startSpan) => {
    const tracer = { startSpan } as never;
    const gate = traceGate(gates.gate(), { tracer });
    expect(await gate.call({ rpc: 'free' }, () => 1)).toBe(1);
    expect(await gate.call({ rpc: 'free' }, async () => 2)).toBe(2);
    const unreadable = Object.defineProperty(new Error('hidden'), 'message', { get: broken });
    for (const reason of [new Error('down'), unreadable, Object.create(null)]) {
      for (const attempt of [async () => Promise.reject(reason), () => raise(reason)]) {
        const options = { rpc: 'free', classify: () => 'failure' as const };
        expect(await gate.call(options, attempt).catch((error: unknown) => error)).toBe(reason);
      }
    }
  });

  it('keeps long keys short', async () => {
    await traced().call({ rpc: 'free', table: 'x'.repeat(10_000) }, () => 1);
    expect(only('spillway.call free').attributes['spillway.table']).toBe('x'.repeat(256));
  });

  it('does without a tracer of its own, and refuses what is none', async () => {
    const gate = gates.gate();
    expect(await traceGate(gate).call({ rpc: 'free' }, () => 5)).toBe(5);
    expect(() => traceGate(gate, { tracer: {} as never })).toThrow(/^tracer must be a tracer/);
    expect(() => traceGate({} as never)).toThrow(/^gate must be a gate/);
    expect(() => traceGate(gate, { trace: 1 } as never)).toThrow(/^trace is no option/);
    expect(() => traceGate(gate, null as never)).toThrow(/^options must be an object, got null/);
  });
});
