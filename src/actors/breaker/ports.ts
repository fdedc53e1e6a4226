import type { BreakerConfig } from './breaker-config.js';

/** A circuit that was forgotten. */
export interface ForgottenCircuit {
  readonly address: string;
  /** It was open or half-open: its peer is called again. */
  readonly wasOpen: boolean;
}

/** What a thread has reported, at once when it happened. Times are ms of the system's clock. */
export type CircuitReport =
  /** An address has become unhealthy. */
  | { readonly kind: 'tracked' }
  | {
      readonly kind: 'opened';
      readonly address: string;
      readonly reason: OpenReason;
      /** Of calls, or of probes in a row; 0 where nothing has failed. */
      readonly failures: number;
      readonly retryAfterMs: number;
      readonly atMs: number;
    }
  | { readonly kind: 'half-open'; readonly address: string; readonly atMs: number }
  | {
      readonly kind: 'closed';
      readonly address: string;
      readonly reason: CloseReason;
      readonly atMs: number;
    };

/** `failures`: of calls. `by-hand`: with `open()`. `probe-lost`: it may be probed again at once. */
export type OpenReason = 'failures' | 'probe-failed' | 'probe-lost' | 'by-hand';

/** `probed`: with success. `idle`, `evicted`: forgotten. `off`: the breaker was switched off. */
export type CloseReason = 'probed' | 'by-hand' | 'idle' | 'evicted' | 'off';

/** Port: all circuits of the process. Only the thread of the actors forgets any. */
export interface CircuitPort {
  /** Changes whenever an address becomes unhealthy. */
  epoch(): number;
  /** Circuits that are kept, healthy ones that still linger included. */
  size(): number;
  /** Forgets what has been idle. `kept`: how many are left. */
  sweep(
    config: BreakerConfig,
    nowMs: number,
  ): { readonly forgotten: readonly ForgottenCircuit[]; readonly kept: number };
  /** Forgets what there is above `maxAddresses`. */
  makeRoom(maxAddresses: number): readonly ForgottenCircuit[];
  /** Gives up probes past their deadline. `nextMs`: when the next of those that are out has its own. */
  releaseOverdue(
    config: BreakerConfig,
    nowMs: number,
  ): { readonly lost: readonly string[]; readonly nextMs: number | undefined };
  /** Gives up the probes of a thread that has ended. */
  releaseOwned(owner: number): readonly string[];
  /** Forgets everything but what was opened by hand. */
  clear(): readonly ForgottenCircuit[];
  /** The windows of failure-rate mode begin anew. */
  clearWindows(): void;
}
