/** What stages have taken for an attempt that has not started yet: spent together, or cancelled, then settled. */
import type { VerdictKind } from '../shared/verdict.js';

/** What one stage took. */
export interface Hold {
  readonly waitedNs: number;
  /** The attempt starts now. */
  spend(): void;
  /** It will not start. */
  cancel(): void;
  /** It has ended, after it was spent; for stages that want to know how. */
  settle?(verdict: VerdictKind): void;
}

/** What all of them took so far, the last first: a list costs less than an array when it is this short. */
export interface Taken {
  readonly hold: Hold;
  readonly before: Taken | undefined;
}

export function spendAll(taken: Taken | undefined): void {
  for (let at = taken; at !== undefined; at = at.before) at.hold.spend();
}

/** Each gives back what was taken last. */
export function cancelAll(taken: Taken | undefined): void {
  for (let at = taken; at !== undefined; at = at.before) at.hold.cancel();
}

export function settleAll(taken: Taken | undefined, verdict: VerdictKind): void {
  for (let at = taken; at !== undefined; at = at.before) at.hold.settle?.(verdict);
}
