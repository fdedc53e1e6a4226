import { isSpillwayError } from '../../shared/errors.js';
import { KV_CODES, type KvErrorCode } from '../../shared/kv-errors.js';
import type { ActorRef } from '../core/actor-ref.js';
import type { Behavior } from '../core/behavior.js';
import { closeFlush, retryFlush } from './flush-machine.js';
import { recordBytes } from './kv-record.js';
import { failTablet, onWritten, startRun, wantFlush, withFlush } from './tablet-flush.js';
import type { LoggedPut, PutReply, TabletMessage } from './tablet-message.js';
import { answerGet, answerScan, toError } from './tablet-reads.js';
import {
  bufferRecords,
  mustRefuse,
  openTablet,
  pendingBytes,
  pressureOf,
  type TabletContext,
  type TabletOptions,
  type TabletState,
} from './tablet-state.js';

/** Puts under way are bounded by who sends them; every other message is one of a kind. */
const MAILBOX = 65_536;

/**
 * One bucket of a table. A put passes the gate, is made durable in the log, enters the pre-write buffer and is flushed
 * behind its answer, in order. Its log and its engine are ports; neither is ever waited for.
 */
export function createTabletBehavior(options: TabletOptions): Behavior<TabletState, TabletMessage> {
  return {
    initialState: () => openTablet(options),
    receive: (state, message, context) => {
      const next = react(state, message, options, context);
      if (message.kind !== 'get' && message.kind !== 'scan') report(next, options);
      return settleClose(next, context);
    },
    onSignal: (state, signal, context) => {
      if (signal.kind !== 'started') return state;
      report(state, options);
      return wantFlush(state, options, context);
    },
    mailbox: { capacity: MAILBOX },
  };
}

function react(
  state: TabletState,
  message: TabletMessage,
  options: TabletOptions,
  context: TabletContext,
): TabletState {
  switch (message.kind) {
    case 'put':
      return onPut(state, message, options, context);
    case 'logged':
      return onLogged(state, message.put, message.error, options, context);
    case 'run':
      return startRun(state, options, context);
    case 'written':
      return onWritten(state, message.outcome, message.startedMs, options, context);
    case 'retry':
      return withFlush(state, retryFlush(state.flush), options, context);
    case 'sampled': {
      const { sample } = message;
      return { ...state, sample, sampledAtMs: context.nowMs(), isSampling: false };
    }
    case 'broken':
      return failTablet(state, message.error, options, context);
    case 'checkpoint':
      return checkpoint(state, message.replyTo, options, context);
    case 'checkpointed':
      options.log.release(options.tablet, message.upTo);
      for (const one of state.checkpointers) context.tell(one, 'done');
      return {
        ...state,
        checkpointed: message.upTo,
        isCheckpointing: false,
        checkpointers: [],
      };
    case 'get':
    case 'scan':
      read(state, message, options, context);
      return state;
    case 'status': {
      const { mode, flush, nextLsn, buffer, sample } = state;
      context.tell(message.replyTo, {
        mode,
        flushedUpTo: flush.flushed,
        nextLsn,
        entries: buffer.entries,
        pendingBytes: pendingBytes(state),
        pressure: pressureOf(state, options),
        l0Files: sample.l0Files,
      });
      return state;
    }
    case 'close':
      return close(state, message.replyTo, context);
  }
}

function onPut(
  given: TabletState,
  { records, completion, replyTo }: Extract<TabletMessage, { kind: 'put' }>,
  options: TabletOptions,
  context: TabletContext,
): TabletState {
  if (given.mode !== 'open') {
    refuse(replyTo, codeOf(given), stateMessage(given), 0, context);
    return given;
  }
  const state = refreshSample(given, options, context);
  if (mustRefuse(state, options)) {
    options.meters.rejected();
    const message = `${options.tablet} is under storage backpressure`;
    refuse(replyTo, KV_CODES.STORAGE_BACKPRESSURE, message, pressureOf(state, options), context);
    return wantFlush(state, options, context);
  }
  const bytes = recordBytes(records);
  const put: LoggedPut = { firstLsn: state.nextLsn, records, bytes, completion, replyTo };
  options.log.append({ tablet: options.tablet, firstLsn: put.firstLsn, records }).then(
    () => context.tell(context.self, { kind: 'logged', put }),
    (error: unknown) => context.tell(context.self, { kind: 'logged', put, error }),
  );
  const { logging } = state;
  return {
    ...state,
    nextLsn: state.nextLsn + records.length,
    logging: { puts: logging.puts + 1, bytes: logging.bytes + bytes },
  };
}

function onLogged(
  given: TabletState,
  { firstLsn, records, bytes, completion, replyTo }: LoggedPut,
  error: unknown,
  options: TabletOptions,
  context: TabletContext,
): TabletState {
  const { logging } = given;
  const state = { ...given, logging: { puts: logging.puts - 1, bytes: logging.bytes - bytes } };
  if (error !== undefined) {
    const isFull = isSpillwayError(error) && error.code === 'ERR_SPILLWAY_LOG_FULL';
    const code = isFull ? KV_CODES.LOG_FULL : KV_CODES.TABLET_FAILED;
    refuse(replyTo, code, toError(error).message, 0, context);
    return isFull ? state : failTablet(state, error, options, context);
  }
  options.meters.accepted(records.length, bytes);
  bufferRecords(state.buffer, firstLsn, records);
  const upTo = firstLsn + records.length;
  if (completion === 'log' || state.mode !== 'open') {
    const pressure = pressureOf(state, options);
    if (completion === 'log') {
      // Durable is durable, also of a tablet that has failed or is closing meanwhile: the log is replayed.
      context.tell(replyTo, { code: KV_CODES.NONE, message: '', logEndOffset: upTo, pressure });
    } else refuse(replyTo, codeOf(state), stateMessage(state), pressure, context);
    return state.mode === 'open' ? wantFlush(state, options, context) : state;
  }
  const waiters = [...state.waiters, { upTo, replyTo }];
  return wantFlush({ ...state, waiters }, options, context);
}

/** Asks the engine at most once per interval; the answer serves later puts, this one goes by what is known. */
function refreshSample(
  state: TabletState,
  { engine, config }: TabletOptions,
  context: TabletContext,
): TabletState {
  const isFresh = context.nowMs() - state.sampledAtMs < config.sampleIntervalMs;
  if (isFresh || state.isSampling) return state;
  engine.sample().then(
    (sample) => context.tell(context.self, { kind: 'sampled', sample }),
    (error: unknown) => context.tell(context.self, { kind: 'broken', error }),
  );
  return { ...state, isSampling: true };
}

function checkpoint(
  given: TabletState,
  replyTo: ActorRef<'done'> | undefined,
  { engine }: TabletOptions,
  context: TabletContext,
): TabletState {
  const upTo = given.flush.flushed;
  const checkpointers =
    replyTo === undefined ? given.checkpointers : [...given.checkpointers, replyTo];
  if (given.isCheckpointing) return { ...given, checkpointers };
  if (given.mode !== 'open' || upTo <= given.checkpointed) {
    if (replyTo !== undefined) context.tell(replyTo, 'done');
    return given;
  }
  const state = { ...given, checkpointers };
  engine.checkpoint().then(
    () => context.tell(context.self, { kind: 'checkpointed', upTo }),
    (error: unknown) => context.tell(context.self, { kind: 'broken', error }),
  );
  return { ...state, isCheckpointing: true };
}

function read(
  state: TabletState,
  message: Extract<TabletMessage, { kind: 'get' | 'scan' }>,
  options: TabletOptions,
  context: TabletContext,
): void {
  if (state.mode !== 'open') {
    const error = new Error(stateMessage(state), { cause: state.failure });
    context.tell<{ readonly ok: false; readonly error: Error }>(message.replyTo, {
      ok: false,
      error,
    });
  } else if (message.kind === 'get') {
    answerGet(state, message.keys, message.replyTo, options, context);
  } else answerScan(state, message.range, message.replyTo, options, context);
}

function close(
  state: TabletState,
  replyTo: ActorRef<'closed'>,
  context: TabletContext,
): TabletState {
  for (const waiter of state.waiters) {
    refuse(
      waiter.replyTo,
      KV_CODES.CLOSING,
      'logged, but closed before it was flushed',
      0,
      context,
    );
  }
  return {
    ...state,
    mode: 'closing',
    flush: closeFlush(state.flush),
    waiters: [],
    closing: [...state.closing, replyTo],
  };
}

function settleClose(state: TabletState, context: TabletContext): TabletState {
  const isBusy = state.isWriting || state.isCheckpointing || state.logging.puts > 0;
  if (state.closing.length === 0 || isBusy) return state;
  for (const replyTo of state.closing) context.tell(replyTo, 'closed');
  return { ...state, closing: [] };
}

function refuse(
  replyTo: ActorRef<PutReply>,
  code: KvErrorCode,
  message: string,
  pressure: number,
  context: TabletContext,
): void {
  context.tell(replyTo, { code, message, pressure });
}

/** Why a tablet that is not open takes nothing. */
function codeOf({ mode }: TabletState): KvErrorCode {
  return mode === 'closing' ? KV_CODES.CLOSING : KV_CODES.TABLET_FAILED;
}

function stateMessage({ mode, failure }: TabletState): string {
  return mode === 'closing'
    ? 'the server is closing'
    : `tablet failed: ${toError(failure).message}`;
}

function report(state: TabletState, options: TabletOptions): void {
  options.meters.state({
    pressure: pressureOf(state, options),
    pendingBytes: pendingBytes(state),
    entries: state.buffer.entries,
    l0Files: state.sample.l0Files,
  });
}
