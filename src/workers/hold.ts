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
  /** Its peer has begun to answer. Where there is a stage that does not want to wait for the end. */
  readonly answered?: () => void;
}

/** What all of them took so far, the last first: a list costs less than an array when it is this short. */
export interface Taken {
  readonly hold: Hold;
  readonly before: Taken | undefined;
}

/** What an attempt tells the stages when its peer begins to answer; undefined: none wants to know. */
export function answeredOf(taken: Taken | undefined): (() => void) | undefined {
  for (let at = taken; at !== undefined; at = at.before)
    if (at.hold.answered !== undefined) return at.hold.answered;
  return undefined;
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
