import { wouldExceedFlushBudget } from '../../shared/pressure/flush-budget.js';
import { gaugePressure } from '../../shared/pressure/pressure-gauge.js';
import type { ActorRef } from '../core/actor-ref.js';
import type { ActorContext } from '../core/behavior.js';
import type { EnginePort, EngineSample } from './engine-port.js';
import { type FlushState, idleFlush } from './flush-machine.js';
import type { FlushSchedulerMessage } from './flush-scheduler.js';
import type { FlushSegment } from './flush-segment.js';
import { isDelete, type KvRecord, sizeOfRecord, textOfKey } from './kv-record.js';
import type { LogBatch, LogPort } from './log-port.js';
import { PreWriteBuffer } from './pre-write-buffer.js';
import type { TabletConfig } from './tablet-config.js';
import type { PutReply, TabletMessage, TabletMode } from './tablet-message.js';
import type { TabletMeters } from './tablet-meters.js';

export interface TabletOptions {
  /** Names it in the log. */
  readonly tablet: string;
  readonly engine: EnginePort;
  readonly log: LogPort;
  readonly scheduler: ActorRef<FlushSchedulerMessage>;
  readonly config: TabletConfig;
  readonly meters: TabletMeters;
  /**
   * What the log had of this tablet when it was opened, in order; what the store has already is skipped. Taken once, so
   * that nobody keeps it.
   */
  readonly takeRecovered: () => readonly LogBatch[];
  /** Engine as it was found. */
  readonly sample: EngineSample;
  /** The tablet takes nothing more, and why. */
  readonly onFailed: (error: unknown) => void;
}

export type TabletContext = ActorContext<TabletMessage>;

/** A put that is answered when everything below `upTo` is in the store. */
export interface FlushWaiter {
  readonly upTo: number;
  readonly replyTo: ActorRef<PutReply>;
}

export interface TabletState {
  readonly mode: TabletMode;
  readonly failure: unknown;
  readonly buffer: PreWriteBuffer<KvRecord>;
  readonly flush: FlushState;
  /** Segments that the present run has still to write; the first is under way. */
  readonly segments: readonly FlushSegment[];
  readonly isWriting: boolean;
  readonly nextLsn: number;
  /** Puts that the log has not made durable yet. */
  readonly logging: { readonly puts: number; readonly bytes: number };
  readonly waiters: readonly FlushWaiter[];
  readonly sample: EngineSample;
  /** undefined: never, or a sample is being taken. */
  readonly sampledAtMs: number;
  readonly isSampling: boolean;
  /** A flush was refused, and none has gone through since. */
  readonly rejected: boolean;
  /** Everything below survives a loss of power in the store itself. */
  readonly checkpointed: number;
  readonly isCheckpointing: boolean;
  /** Who is told when the present checkpoint is over, however. */
  readonly checkpointers: readonly ActorRef<'done'>[];
  readonly closing: readonly ActorRef<'closed'>[];
}

export function openTablet({ engine, takeRecovered, sample }: TabletOptions): TabletState {
  const buffer = new PreWriteBuffer<KvRecord>({
    bytesOf: (_, record) => (record === null ? 0 : sizeOfRecord(record)),
  });
  let nextLsn = engine.flushedUpTo;
  for (const { firstLsn, records } of takeRecovered()) {
    // Below the flushed offset: in the store already, must not be applied twice.
    const from = Math.max(0, nextLsn - firstLsn);
    bufferRecords(buffer, firstLsn + from, from === 0 ? records : records.slice(from));
    nextLsn = Math.max(nextLsn, firstLsn + records.length);
  }
  return {
    mode: 'open',
    failure: undefined,
    buffer,
    flush: idleFlush(engine.flushedUpTo),
    segments: [],
    isWriting: false,
    nextLsn,
    logging: { puts: 0, bytes: 0 },
    waiters: [],
    sample,
    sampledAtMs: Number.NEGATIVE_INFINITY,
    isSampling: false,
    rejected: false,
    checkpointed: engine.flushedUpTo,
    isCheckpointing: false,
    checkpointers: [],
    closing: [],
  };
}

export function bufferRecords(
  buffer: PreWriteBuffer<KvRecord>,
  firstLsn: number,
  records: readonly KvRecord[],
): void {
  for (const [i, record] of records.entries()) {
    const change = isDelete(record) ? 'delete' : 'update';
    buffer.put(textOfKey(record.key), record, firstLsn + i, change);
  }
}

/** Bytes that are on their way into the store, those in the log included. */
export function pendingBytes({ buffer, logging }: TabletState): number {
  return buffer.pendingBytes + logging.bytes;
}

export function pressureOf(state: TabletState, { engine, config }: TabletOptions): number {
  const { l0SlowdownWritesTrigger } = engine.triggers;
  const ramp = { slowdownTrigger: config.l0SlowdownTrigger, l0SlowdownWritesTrigger };
  return gaugePressure(ramp, state.sample.l0Files, state.rejected);
}

/** The hard gate. */
export function mustRefuse(state: TabletState, { engine, config }: TabletOptions): boolean {
  const pending = pendingBytes(state);
  if (pending >= config.maxPendingBytes) return true;
  return wouldExceedFlushBudget(engine.triggers, state.sample.l0Files, pending, state.rejected);
}
