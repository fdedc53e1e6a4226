/**
 * Judges a history of grants by the bound of the token bucket: over every window, grants <= burst + qps * (elapsed + lag).
 * Moments are points under virtual time, and lie between two readings of a clock on real threads.
 */
import { MaxOfEnds } from './max-of-ends.js';

/** Some time from `fromNs` to `toNs`. */
export interface Moment {
  readonly fromNs: number;
  readonly toNs: number;
}

export interface Grant extends Moment {
  readonly n: number;
}

/** Came into force at that moment; the first are from the beginning. A `fresh` bucket begins full, others keep their balance. */
export interface Terms extends Moment {
  readonly qps: number;
  readonly burst: number;
  readonly fresh?: boolean;
}

export interface Window {
  /** Permits granted above what the bound allows; not above 0 when it holds. */
  readonly excess: number;
  readonly granted: number;
  readonly allowed: number;
  readonly lengthMs: number;
}

/**
 * The window that comes closest to breaking the bound, of all windows that begin and end with a grant. Whatever the
 * moments leave open counts in favour of the bound: a window holds the grants that are certainly inside, and while terms
 * change the larger ones are in force.
 */
export function tightestWindow(
  grants: readonly Grant[],
  terms: readonly Terms[],
  lagNs = 0,
): Window {
  const supply = supplyOf(terms);
  const byEnd = grants.toSorted((a, b) => a.toNs - b.toNs);
  const supplied = byEnd.map(({ toNs }) => supply.byEnd(toNs));
  const ends = new MaxOfEnds(byEnd.length);
  let worst: Window = { excess: Number.NEGATIVE_INFINITY, granted: 0, allowed: 0, lengthMs: 0 };
  // Beginnings from the last to the first: each takes in the grants that begin with it or later.
  const byStart = Array.from(byEnd.keys()).sort(
    (a, b) => (byEnd[b] as Grant).fromNs - (byEnd[a] as Grant).fromNs,
  );
  for (const [i, end] of byStart.entries()) {
    const { fromNs, n } = byEnd[end] as Grant;
    ends.add(end, n);
    ends.open(end, -(supplied[end] as number));
    // Others that begin at the same time are in the same windows.
    if (byEnd[byStart[i + 1] ?? -1]?.fromNs === fromNs) continue;
    const allowance =
      supply.burst(fromNs - lagNs, fromNs) - supply.byStart(fromNs) + supply.most * (lagNs / 1e9);
    const excess = ends.max - allowance;
    if (excess <= worst.excess) continue;
    const last = ends.argMax();
    const allowed = allowance + (supplied[last] as number);
    const lengthMs = ((byEnd[last] as Grant).toNs - fromNs) / 1e6;
    worst = { excess, granted: excess + allowed, allowed, lengthMs };
  }
  return worst;
}

export interface Granted {
  readonly atNs: number;
  readonly n: number;
}

export interface TermsSince extends Omit<Terms, 'toNs'> {}

/** Permits beyond the bound in the worst window, 0 or less where it holds, of a history whose moments are points. */
export function worstExcess(grants: readonly Granted[], history: readonly TermsSince[]): number {
  const at = <One>(one: One, ns: number): One & Moment => ({ ...one, fromNs: ns, toNs: ns });
  return tightestWindow(
    grants.map((grant) => at(grant, grant.atNs)),
    history.map((terms) => at(terms, terms.fromNs)),
  ).excess;
}

interface Step {
  readonly atNs: number;
  readonly qps: number;
  readonly burst: number;
}

/** What terms allow at most. */
interface Supply {
  /** Permits that have come in since the beginning, for a window that ends at `ns`: also those of that moment. */
  byEnd(ns: number): number;
  /** The same for a window that begins at `ns`: what comes in at that moment is inside. */
  byStart(ns: number): number;
  /** The largest burst in force at some time from `fromNs` to `toNs`. */
  burst(fromNs: number, toNs: number): number;
  /** The highest rate. */
  readonly most: number;
}

function supplyOf(terms: readonly Terms[]): Supply {
  // While a change is under way the old terms and the new ones both count.
  const steps = terms.flatMap((term, i): Step[] => {
    const before = terms[i - 1] ?? term;
    const larger = {
      qps: Math.max(term.qps, before.qps),
      burst: Math.max(term.burst, before.burst),
    };
    return [
      { atNs: term.fromNs, ...larger },
      { atNs: term.toNs, qps: term.qps, burst: term.burst },
    ];
  });
  const byRate = [0];
  for (let i = 1; i < steps.length; i += 1) {
    const [before, step] = [steps[i - 1] as Step, steps[i] as Step];
    byRate.push((byRate[i - 1] as number) + (before.qps * (step.atNs - before.atNs)) / 1e9);
  }
  const fresh = terms.filter((term, i) => i > 0 && term.fresh === true);
  const handedOut = (isIn: (term: Terms) => boolean): number =>
    fresh.reduce((sum, term) => (isIn(term) ? sum + term.burst : sum), 0);
  /** The last step that has begun by `ns`, else the first. */
  const last = (ns: number): number => {
    let [low, high] = [0, steps.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((steps[middle] as Step).atNs <= ns) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const rated = (ns: number): number => {
    const i = last(ns);
    const { atNs, qps } = steps[i] as Step;
    return (byRate[i] as number) + (qps * (ns - atNs)) / 1e9;
  };
  return {
    byEnd: (ns) => rated(ns) + handedOut(({ fromNs }) => fromNs <= ns),
    byStart: (ns) => rated(ns) + handedOut(({ toNs }) => toNs < ns),
    burst(fromNs, toNs) {
      let most = 0;
      for (let i = last(toNs); i >= 0; i -= 1) {
        const step = steps[i] as Step;
        most = Math.max(most, step.burst);
        // One that begins with the window has the one before it end with it.
        if (step.atNs < fromNs) break;
      }
      return most;
    },
    most: Math.max(...terms.map(({ qps }) => qps)),
  };
}
