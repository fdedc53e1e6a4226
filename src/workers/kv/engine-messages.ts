import type { EngineSample, EngineWriteOutcome } from '../../actors/kv/engine-port.js';
import type { LevelZeroTriggers } from '../../shared/pressure/level-zero-triggers.js';
import type { WireThrown } from '../error-codec.js';

/** Where an engine comes from: an exported `(options) => Promise<EnginePort>` of a module. */
export interface EngineFactory {
  /** URL of the module. */
  readonly module: string;
  readonly exportName: string;
}

/** Bytes are records (see record-codec), in a buffer that is transferred. */
export type EngineRequest =
  | { readonly kind: 'open'; readonly options: unknown }
  | { readonly kind: 'sample' }
  | { readonly kind: 'stalledMs' }
  | { readonly kind: 'write'; readonly bytes: Uint8Array; readonly flushedUpTo: number }
  | { readonly kind: 'get'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'iterate';
      readonly start: Uint8Array;
      readonly end: Uint8Array | undefined;
      readonly limit: number;
    }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'close' };

export interface EngineCall {
  readonly id: number;
  /** Of the thread: numbered by the caller. */
  readonly engine: number;
  readonly request: EngineRequest;
}

export interface EngineOpened {
  readonly triggers: LevelZeroTriggers;
  readonly flushedUpTo: number;
  readonly sample: EngineSample;
}

/** Answer to each kind of request. */
export interface EngineAnswers {
  readonly open: EngineOpened;
  readonly sample: EngineSample;
  readonly stalledMs: number;
  readonly write: EngineWriteOutcome;
  readonly get: Uint8Array;
  readonly iterate: Uint8Array;
  readonly checkpoint: undefined;
  readonly close: undefined;
}

export type EngineReply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: WireThrown };
