/**
 * Log-linear buckets for durations in ns: eight of equal width in every octave from 2^10 ns (1.02 us) to 2^40 ns
 * (1,100 s), one for what is shorter and one for what is longer. A bucket is at most 1/8 wider than where it begins, so
 * its representative is at most 1/17 (5.9 %) from any value in it. Sixteen per octave would halve that for twice the
 * memory; a wait does not need it.
 */
const SUB_BITS = 3;
const SUBS = 1 << SUB_BITS;
const FIRST_OCTAVE = 10;
const LAST_OCTAVE = 40;
const FIRST_NS: number = 2 ** FIRST_OCTAVE;
const LAST_NS: number = 2 ** LAST_OCTAVE;

export const HISTOGRAM_BUCKETS: number = 2 + (LAST_OCTAVE - FIRST_OCTAVE) * SUBS;

/** The bucket of a duration: the one with the smallest upper bound that is not below it. */
export function bucketOf(ns: number): number {
  if (ns <= FIRST_NS) return 0;
  if (ns > LAST_NS) return HISTOGRAM_BUCKETS - 1;
  // Upper bounds belong to the bucket, so the whole ns before this one finds it by its leading bits.
  const whole = Math.ceil(ns) - 1;
  const octave =
    whole < 4_294_967_296 ? 31 - Math.clz32(whole) : 63 - Math.clz32(whole / 4_294_967_296);
  const leading = Math.floor(whole / 2 ** (octave - SUB_BITS));
  return 1 + (octave - FIRST_OCTAVE) * SUBS + (leading - SUBS);
}

/** The longest duration of a bucket, Infinity for the last. */
export function upperNs(bucket: number): number {
  if (bucket >= HISTOGRAM_BUCKETS - 1) return Number.POSITIVE_INFINITY;
  const octave = Math.floor((bucket - 1) / SUBS) + FIRST_OCTAVE;
  const sub = (bucket - 1) % SUBS;
  return bucket === 0 ? FIRST_NS : (SUBS + sub + 1) * 2 ** (octave - SUB_BITS);
}

/** A duration that stands for a bucket: the one with the smallest relative error to both ends. */
export function representativeNs(bucket: number): number {
  if (bucket === 0) return FIRST_NS / 2;
  const lower = upperNs(bucket - 1);
  const upper = upperNs(bucket);
  return upper === Number.POSITIVE_INFINITY ? lower : (2 * lower * upper) / (lower + upper);
}
