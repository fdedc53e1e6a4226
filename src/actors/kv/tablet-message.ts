import type { KvErrorCode } from '../../shared/kv-errors.js';
import type { ActorRef } from '../core/actor-ref.js';
import type { EngineSample, EngineWriteOutcome, KeyRange } from './engine-port.js';
import type { KvRecord, KvRow } from './kv-record.js';

/** When a put is answered: once it is durable in the log, or once it is in the store. */
export type Completion = 'log' | 'flush';

export interface PutReply {
  /** 0: taken. */
  readonly code: KvErrorCode;
  readonly message: string;
  /** Number of the next record of the bucket, when the batch was taken. */
  readonly logEndOffset?: number;
  /** In [0, 0.999]. */
  readonly pressure: number;
}

export type ReadReply<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly error: Error };

/** Values in the order of the keys, null where there is none. */
export type GetReply = ReadReply<readonly (Uint8Array | null)[]>;

export interface ScanResult {
  readonly rows: readonly KvRow[];
  /** There may be rows after the last one. */
  readonly hasMore: boolean;
}

export type ScanReply = ReadReply<ScanResult>;

/** How a tablet stands, for metrics and tests. */
export interface TabletStatus {
  readonly mode: TabletMode;
  readonly flushedUpTo: number;
  readonly nextLsn: number;
  readonly entries: number;
  readonly pendingBytes: number;
  readonly pressure: number;
  readonly l0Files: number;
}

export type TabletMode = 'open' | 'failed' | 'closing';

export interface LoggedPut {
  readonly firstLsn: number;
  readonly records: readonly KvRecord[];
  readonly bytes: number;
  readonly completion: Completion;
  readonly replyTo: ActorRef<PutReply>;
}

export type TabletMessage =
  | {
      readonly kind: 'put';
      /** At least one, checked. */
      readonly records: readonly KvRecord[];
      readonly completion: Completion;
      readonly replyTo: ActorRef<PutReply>;
    }
  | {
      readonly kind: 'get';
      readonly keys: readonly Uint8Array[];
      readonly replyTo: ActorRef<GetReply>;
    }
  | { readonly kind: 'scan'; readonly range: KeyRange; readonly replyTo: ActorRef<ScanReply> }
  | { readonly kind: 'status'; readonly replyTo: ActorRef<TabletStatus> }
  /** The log grows long: what the store has shall survive a loss of power, so that the log can forget it. */
  | { readonly kind: 'checkpoint'; readonly replyTo?: ActorRef<'done'> }
  /** Takes nothing more; answered when nothing of the tablet is under way in the log or in the engine. */
  | { readonly kind: 'close'; readonly replyTo: ActorRef<'closed'> }
  /** From the scheduler: a slot is yours. */
  | { readonly kind: 'run' }
  // From ports and timers.
  | { readonly kind: 'logged'; readonly put: LoggedPut; readonly error?: unknown }
  | { readonly kind: 'written'; readonly outcome: EngineWriteOutcome; readonly startedMs: number }
  | { readonly kind: 'sampled'; readonly sample: EngineSample }
  | { readonly kind: 'checkpointed'; readonly upTo: number }
  | { readonly kind: 'broken'; readonly error: unknown }
  | { readonly kind: 'retry' };
