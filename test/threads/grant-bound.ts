/** A grant of `n` permits at some moment between two readings of one clock, in ns. */
export interface Grant {
  readonly thread: number;
  readonly fromNs: number;
  readonly toNs: number;
  readonly n: number;
}

/** Terms of a bucket that came into force at some moment between two readings of the same clock. */
export interface Terms {
  readonly qps: number;
  readonly burst: number;
  readonly fromNs: number;
  readonly toNs: number;
}

export interface Window {
  /** Permits granted above what the bound allows; not above 0 when it holds. */
  readonly excess: number;
  readonly granted: number;
  readonly allowed: number;
  readonly lengthMs: number;
}

/**
 * The window that comes closest to breaking the bound `grants <= burst + qps * (elapsed + lag)`, of all windows that begin
 * and end with a grant. Whatever the readings leave open counts in favour of the bound: a window holds the grants that are
 * certainly inside, and while terms change the larger ones are in force.
 */
export function tightestWindow(
  grants: readonly Grant[],
  terms: readonly Terms[],
  lagNs = 0,
): Window {
  const byEnd = [...grants].sort((a, b) => a.toNs - b.toNs);
  const supply = supplyOf(terms);
  const from = Float64Array.from(byEnd, (grant) => grant.fromNs);
  const n = Float64Array.from(byEnd, (grant) => grant.n);
  const supplied = Float64Array.from(byEnd, (grant) => supply.until(grant.toNs));
  let worst: Window = { excess: Number.NEGATIVE_INFINITY, granted: 0, allowed: 0, lengthMs: 0 };
  for (const first of byEnd) {
    const startNs = first.fromNs;
    const allowance =
      supply.burst(startNs - lagNs) - supply.until(startNs) + supply.most * (lagNs / 1e9);
    let granted = 0;
    for (let i = 0; i < byEnd.length; i++) {
      if ((from[i] as number) < startNs) continue;
      granted += n[i] as number;
      const allowed = allowance + (supplied[i] as number);
      if (granted - allowed <= worst.excess) continue;
      const lengthMs = ((byEnd[i] as Grant).toNs - startNs) / 1e6;
      worst = { excess: granted - allowed, granted, allowed, lengthMs };
    }
  }
  return worst;
}

/** What terms allow at most: permits supplied since the beginning, and the burst at a moment. */
function supplyOf(terms: readonly Terms[]): {
  until(ns: number): number;
  burst(ns: number): number;
  readonly most: number;
} {
  // While a change is under way the old terms and the new ones both count.
  const steps = terms.flatMap((term, i) => {
    const before = terms[i - 1] ?? term;
    return [
      {
        atNs: term.fromNs,
        qps: Math.max(term.qps, before.qps),
        burst: Math.max(term.burst, before.burst),
      },
      { atNs: term.toNs, qps: term.qps, burst: term.burst },
    ];
  });
  const supplied = [0];
  for (let i = 1; i < steps.length; i++) {
    const [before, step] = [steps[i - 1]!, steps[i]!];
    supplied.push(supplied[i - 1]! + (before.qps * (step.atNs - before.atNs)) / 1e9);
  }
  const last = (ns: number): number => {
    let [low, high] = [0, steps.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (steps[middle]!.atNs <= ns) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  return {
    until(ns) {
      const i = last(ns);
      return supplied[i]! + (steps[i]!.qps * (ns - steps[i]!.atNs)) / 1e9;
    },
    burst: (ns) => steps[last(ns)]!.burst,
    most: Math.max(...terms.map(({ qps }) => qps)),
  };
}
