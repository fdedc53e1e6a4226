import { KV_CODES } from '../../shared/kv-errors.js';
import type { EngineWriteOutcome } from './engine-port.js';
import {
  blockFlush,
  claimFlush,
  type FlushState,
  failFlush,
  finishFlush,
  progressFlush,
  requestFlush,
} from './flush-machine.js';
import type { KvRecord } from './kv-record.js';
import {
  pressureOf,
  type TabletContext,
  type TabletOptions,
  type TabletState,
} from './tablet-state.js';

/** Wants everything that is in the buffer in the store. */
export function wantFlush(
  state: TabletState,
  options: TabletOptions,
  context: TabletContext,
): TabletState {
  return withFlush(state, requestFlush(state.flush, state.buffer.maxLsn + 1), options, context);
}

/** A task is handed to the scheduler whenever the machine says so. */
export function withFlush(
  state: TabletState,
  flush: FlushState,
  { scheduler }: TabletOptions,
  context: TabletContext,
): TabletState {
  if (flush.enqueued > state.flush.enqueued) {
    context.tell(scheduler, { kind: 'enqueue', tablet: context.self });
  }
  return { ...state, flush };
}

/** A slot is ours. */
export function startRun(
  state: TabletState,
  options: TabletOptions,
  context: TabletContext,
): TabletState {
  const { state: flush, claimed } = claimFlush(state.flush);
  if (!claimed || state.isWriting) {
    context.tell(options.scheduler, { kind: 'release', tablet: context.self });
    return state;
  }
  const { segmentRecords, segmentBytes, segmentsPerRun } = options.config;
  const bound = state.buffer.boundAfter(segmentRecords * segmentsPerRun);
  state.buffer.prepare(Math.min(flush.requested, bound ?? flush.requested));
  const segments = state.buffer
    .split({ maxBytes: segmentBytes, maxRecords: segmentRecords })
    .slice(0, segmentsPerRun);
  return writeNext({ ...state, flush, segments }, options, context);
}

function writeNext(
  state: TabletState,
  { engine }: TabletOptions,
  context: TabletContext,
): TabletState {
  const segment = state.segments[0];
  if (segment === undefined) return state;
  const records = state.buffer.prepared(segment.count).map(({ value }) => value as KvRecord);
  const startedMs = context.nowMs();
  engine.write({ records, flushedUpTo: segment.upTo }).then(
    (outcome) => context.tell(context.self, { kind: 'written', outcome, startedMs }),
    (error: unknown) => context.tell(context.self, { kind: 'broken', error }),
  );
  return { ...state, isWriting: true };
}

/** What became of the segment under way. */
export function onWritten(
  state: TabletState,
  outcome: EngineWriteOutcome,
  startedMs: number,
  options: TabletOptions,
  context: TabletContext,
): TabletState {
  const sampled: TabletState = {
    ...state,
    isWriting: false,
    sample: outcome.sample,
    sampledAtMs: context.nowMs(),
  };
  if (outcome.kind === 'refused') return onRefused(sampled, options, context);
  const [segment, ...segments] = state.segments;
  if (segment === undefined) return sampled;
  state.buffer.complete(1);
  options.meters.flushed(segment.count, context.nowMs() - startedMs);
  const flush = progressFlush(state.flush, segment.upTo);
  const done = settleWaiters(
    { ...sampled, flush, segments, rejected: false },
    // Once the tablet is closing the machine does not move, but the segment is in the store all the same.
    Math.max(flush.flushed, segment.upTo),
    options,
    context,
  );
  if (done.mode !== 'open') return endRun(done, options, context);
  if (segments.length > 0) return writeNext(done, options, context);
  return withFlush(
    endRun(done, options, context),
    finishFlush(done.flush, done.flush.flushed),
    options,
    context,
  );
}

function onRefused(
  state: TabletState,
  options: TabletOptions,
  context: TabletContext,
): TabletState {
  const { state: flush, retryInMs } = blockFlush(state.flush, options.config);
  if (retryInMs !== undefined) {
    options.meters.retried();
    context.after(retryInMs, { kind: 'retry' });
  }
  return { ...endRun(state, options, context), flush, rejected: true };
}

/** Gives back what is still prepared, and the slot. */
function endRun(
  state: TabletState,
  { scheduler }: TabletOptions,
  context: TabletContext,
): TabletState {
  state.buffer.abort();
  context.tell(scheduler, { kind: 'release', tablet: context.self });
  return { ...state, segments: [] };
}

function settleWaiters(
  state: TabletState,
  flushedUpTo: number,
  options: TabletOptions,
  context: TabletContext,
): TabletState {
  if (state.waiters.length === 0) return state;
  const pressure = pressureOf(state, options);
  const waiters = state.waiters.filter(({ upTo, replyTo }) => {
    if (upTo > flushedUpTo) return true;
    context.tell(replyTo, { code: KV_CODES.NONE, message: '', logEndOffset: upTo, pressure });
    return false;
  });
  return { ...state, waiters };
}

/** The engine is broken: the tablet takes nothing more. What is logged stays logged. */
export function failTablet(
  state: TabletState,
  error: unknown,
  options: TabletOptions,
  context: TabletContext,
): TabletState {
  const quiet = { isWriting: false, isCheckpointing: false, isSampling: false };
  if (state.mode === 'failed') return { ...state, ...quiet };
  const message = error instanceof Error ? error.message : String(error);
  for (const { replyTo } of state.waiters) {
    context.tell(replyTo, { code: KV_CODES.TABLET_FAILED, message, pressure: 0 });
  }
  const ended = state.segments.length > 0 ? endRun(state, options, context) : state;
  for (const one of state.checkpointers) context.tell(one, 'done');
  options.onFailed(error);
  return {
    ...ended,
    mode: state.mode === 'closing' ? 'closing' : 'failed',
    failure: error,
    flush: failFlush(state.flush),
    ...quiet,
    checkpointers: [],
    waiters: [],
  };
}
