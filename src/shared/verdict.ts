/** What an attempt's outcome means for the downstream, and when to come back. */

/**
 * - `success`: answered.
 * - `busy`: the downstream says that it is overloaded; slows the hottest tables.
 * - `failure`: no answer, or an internal error.
 * - `refused`: turned away with a hint when to come back; not a sign of overload by itself.
 * - `ignored`: says nothing about the downstream: cancelled by the caller, refused locally, a business error.
 */
export type VerdictKind = 'success' | 'busy' | 'failure' | 'refused' | 'ignored';

/** A verdict with a hint: not before `retryAfterMs`; Infinity: not at all. */
export interface HintedVerdict {
  readonly kind: 'busy' | 'failure' | 'refused';
  readonly retryAfterMs: number;
  /** What the downstream reported of the call's bucket, see {@link PressedVerdict}. */
  readonly pressure?: number;
}

/**
 * A verdict with the pressure that the downstream reported: above 0 up to 1, where 1 is the hard rejection; 0 says that there
 * is none any more. What is out of range counts as the nearer end, NaN says nothing. Without effect on a call without a bucket.
 */
export interface PressedVerdict {
  readonly kind: Exclude<VerdictKind, 'refused'>;
  readonly retryAfterMs?: undefined;
  readonly pressure?: number;
}

export type Verdict = Exclude<VerdictKind, 'refused'> | HintedVerdict | PressedVerdict;

/** A verdict that another attempt may follow. */
export type RetriableKind = HintedVerdict['kind'];

export function verdictKind(verdict: Verdict): VerdictKind {
  return typeof verdict === 'string' ? verdict : verdict.kind;
}

/** When the downstream said to come back, ms. */
export function hintOf(verdict: Verdict): number | undefined {
  return typeof verdict === 'string' ? undefined : verdict.retryAfterMs;
}

/** undefined: it said nothing. */
export function pressureOf(verdict: Verdict): number | undefined {
  return typeof verdict === 'string' ? undefined : verdict.pressure;
}

/** The same verdict, with a pressure if it has none of its own. */
export function withPressure(verdict: Verdict, pressure: number | undefined): Verdict {
  if (pressure === undefined) return verdict;
  if (typeof verdict === 'string') return { kind: verdict, pressure };
  return verdict.pressure === undefined ? { ...verdict, pressure } : verdict;
}

/** Whether a classifier, which is the user's, has said something that is a verdict. */
export function isVerdict(value: unknown): value is Verdict {
  switch (value) {
    case 'success':
    case 'busy':
    case 'failure':
    case 'ignored':
      return true;
  }
  if (typeof value !== 'object' || value === null) return false;
  const { kind, retryAfterMs, pressure } = value as {
    readonly [Field in keyof HintedVerdict]?: unknown;
  };
  if (pressure !== undefined && typeof pressure !== 'number') return false;
  switch (kind) {
    case 'refused':
      return typeof retryAfterMs === 'number' && retryAfterMs >= 0;
    case 'busy':
    case 'failure':
      return retryAfterMs === undefined || (typeof retryAfterMs === 'number' && retryAfterMs >= 0);
    case 'success':
    case 'ignored':
      return retryAfterMs === undefined;
    default:
      return false;
  }
}
