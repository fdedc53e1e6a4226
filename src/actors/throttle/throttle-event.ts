import type { LimitAction } from './limit-action.js';
import type { LimitMove } from './limit-move.js';
import type { ThrottleReason } from './throttle-reason.js';

/** A change of table-level back-pressure, after it took effect. Times are ms of the system's clock. */
export type ThrottleEvent =
  | {
      /** An upgrade was due. It may have found nothing to limit (`actions` is empty): its cooldown runs all the same. */
      readonly kind: 'upgrade';
      readonly level: number;
      readonly actions: readonly LimitAction[];
      readonly moves: readonly LimitMove[];
      readonly reason: ThrottleReason;
      readonly atMs: number;
    }
  | {
      readonly kind: 'downgrade';
      readonly level: number;
      readonly actions: readonly LimitAction[];
      readonly moves: readonly LimitMove[];
      readonly reason: ThrottleReason;
      readonly atMs: number;
    }
  | {
      /** Switched off: every limit was removed, the history is forgotten. */
      readonly kind: 'lifted';
      readonly level: 0;
      readonly actions: readonly LimitAction[];
      readonly moves: readonly LimitMove[];
      readonly reason: ThrottleReason;
      readonly atMs: number;
    }
  | {
      /** Said at each start: the limits that were found in force are looked after again. */
      readonly kind: 'restored';
      readonly level: number;
      /** Limits in force without a record: they are the newest level. */
      readonly unrecorded: number;
      /** Recorded changes that were not in force any more. */
      readonly obsolete: number;
      readonly atMs: number;
    };
