/**
 * What a limiter is given, and how it is held. Times are whole ns, so the emission interval is rounded up: never more
 * than was asked for, and at most 0.1 % less up to 1,000,000/s (1 % up to the largest rate, 10,000,000/s).
 */

export interface Quota {
  /** Calls per second, > 0, at most 10,000,000. */
  readonly qps: number;
  /** Calls that may go at once after a rest: an integer >= 1. */
  readonly burst: number;
}

export interface HeldQuota extends Quota {
  /** Emission interval in ns: the time that one token takes to come. */
  readonly intervalNs: number;
  /** The time that a whole burst takes to come, in ns. */
  readonly tauNs: number;
}

export const MAX_QPS = 10_000_000;
const DAY_NS = 86_400e9;
/** Longest time that a burst, or one interval, may stand for: what fits the arena's words with room to spare. */
export const MAX_SPAN_NS: number = 90 * DAY_NS;

export function checkQps(qps: number): number {
  if (typeof qps !== 'number')
    throw new TypeError(`qps must be a number, got ${describeValue(qps)}`);
  if (!(qps > 0 && qps <= MAX_QPS))
    throw new RangeError(`qps must be > 0 and <= ${MAX_QPS}, got ${qps}`);
  return qps;
}

/** Emission interval in ns of a rate. RangeError for a rate that cannot be held. */
export function intervalNs(qps: number): number {
  const interval = Math.ceil(1e9 / checkQps(qps));
  if (interval > MAX_SPAN_NS)
    throw new RangeError(`qps must be at least one in 90 days, got ${qps}`);
  return interval;
}

/** RangeError or TypeError that names the field, unless rate and burst can be held. */
export function holdQuota({ qps, burst }: Quota): HeldQuota {
  const interval = intervalNs(qps);
  if (typeof burst !== 'number')
    throw new TypeError(`burst must be a number, got ${describeValue(burst)}`);
  if (!Number.isInteger(burst) || burst < 1)
    throw new RangeError(`burst must be an integer >= 1, got ${burst}`);
  const tau = burst * interval;
  if (tau > MAX_SPAN_NS)
    throw new RangeError(`burst / qps must be at most 90 days, got burst ${burst} at qps ${qps}`);
  return { qps, burst, intervalNs: interval, tauNs: tau };
}

/** A weight: how many tokens one call takes. */
export function checkWeight(n: number, field = 'n'): number {
  if (typeof n !== 'number')
    throw new TypeError(`${field} must be a number, got ${describeValue(n)}`);
  if (!Number.isInteger(n) || n < 1 || n > 1e12) {
    throw new RangeError(`${field} must be an integer from 1 to 1e12, got ${n}`);
  }
  return n;
}

/** A time, or a span, in ns: finite, unless `most` says otherwise. */
export function checkNs(ns: number, field: string, most: number = Number.MAX_VALUE): number {
  if (typeof ns !== 'number')
    throw new TypeError(`${field} must be a number, got ${describeValue(ns)}`);
  if (!(ns >= 0 && ns <= most)) {
    const rule = most === Number.MAX_VALUE ? 'a finite number >= 0' : '>= 0';
    throw new RangeError(`${field} must be ${rule}, got ${ns}`);
  }
  return ns;
}

export function describeValue(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, 64)}'`;
  if (value === undefined || value === null) return `${value}`;
  return `${textOf(value).slice(0, 64)} (${typeof value})`;
}

/** Also of what refuses to be a text. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'something without a text';
  }
}
