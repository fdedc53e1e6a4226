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
}

export type Verdict = Exclude<VerdictKind, 'refused'> | HintedVerdict;

/** A verdict that another attempt may follow. */
export type RetriableKind = HintedVerdict['kind'];

export function verdictKind(verdict: Verdict): VerdictKind {
  return typeof verdict === 'string' ? verdict : verdict.kind;
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
  const { kind, retryAfterMs } = value as Partial<HintedVerdict>;
  return (
    (kind === 'refused' || kind === 'busy' || kind === 'failure') &&
    typeof retryAfterMs === 'number' &&
    retryAfterMs >= 0
  );
}
