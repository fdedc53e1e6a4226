import type { CloseReason, OpenReason } from './ports.js';

/** A change of one address' circuit, after it took effect. Times are ms of the system's clock. */
export type BreakerEvent =
  | {
      readonly kind: 'circuit-open';
      readonly address: string;
      readonly reason: OpenReason;
      /** Failures in a row (in the window, in failure-rate mode), or failed probes in a row. */
      readonly failures: number;
      /** Until the next call is let through as a probe. */
      readonly retryAfterMs: number;
      readonly atMs: number;
    }
  | {
      /** One call is trying the address. */
      readonly kind: 'circuit-half-open';
      readonly address: string;
      readonly atMs: number;
    }
  | {
      readonly kind: 'circuit-closed';
      readonly address: string;
      readonly reason: CloseReason;
      readonly atMs: number;
    };
