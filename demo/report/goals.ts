import { rounded } from './figures.js';

export interface Goal {
  readonly what: string;
  readonly got: number;
  readonly bound: 'at most' | 'at least';
  readonly goal: number;
  readonly met: boolean;
}

/** A ratio over nothing counts as met. */
export function goal(what: string, got: number, bound: Goal['bound'], limit: number): Goal {
  return {
    what,
    got: rounded(got, 4),
    bound,
    goal: limit,
    met: Number.isNaN(got) || (bound === 'at most' ? got <= limit : got >= limit),
  };
}
