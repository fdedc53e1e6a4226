/** What a failure does to the actor that failed. `escalate` stops it and lets its parent fail with the same error. */
export type FailureDirective = 'restart' | 'stop' | 'escalate';

export interface SupervisionOptions {
  /** Default `restart`. A function decides by the error; what it throws counts as `escalate`. */
  readonly onFailure?: FailureDirective | ((error: unknown) => FailureDirective);
  /** Restarts that are allowed within `withinMs`, an integer from 0 to 1,000,000. Default 5. */
  readonly maxRestarts?: number;
  /** Default 60,000 ms. */
  readonly withinMs?: number;
  /** What the failure after the last allowed restart does. Default `escalate`: a part that cannot work must not vanish unseen. */
  readonly whenExhausted?: 'stop' | 'escalate';
}

export interface SupervisionPolicy {
  readonly onFailure: FailureDirective | ((error: unknown) => FailureDirective);
  readonly maxRestarts: number;
  readonly withinMs: number;
  readonly whenExhausted: 'stop' | 'escalate';
}

export interface SupervisionDecision {
  readonly directive: FailureDirective;
  /** When the restarts that still count happened, this one included; at most `maxRestarts` of them. */
  readonly restartsAtMs: readonly number[];
}

const DIRECTIVES: readonly string[] = ['restart', 'stop', 'escalate'];

export function resolveSupervision(options: SupervisionOptions = {}): SupervisionPolicy {
  const {
    onFailure = 'restart',
    maxRestarts = 5,
    withinMs = 60_000,
    whenExhausted = 'escalate',
  } = options;
  if (typeof onFailure !== 'function' && !DIRECTIVES.includes(onFailure)) {
    throw new TypeError(
      `onFailure must be 'restart', 'stop', 'escalate' or a function, got ${String(onFailure)}`,
    );
  }
  if (!Number.isInteger(maxRestarts) || maxRestarts < 0 || maxRestarts > 1_000_000) {
    throw new RangeError(
      `maxRestarts must be an integer from 0 to 1000000, got ${String(maxRestarts)}`,
    );
  }
  if (typeof withinMs !== 'number' || !Number.isFinite(withinMs) || withinMs <= 0) {
    throw new RangeError(`withinMs must be a finite number > 0, got ${String(withinMs)}`);
  }
  if (whenExhausted !== 'stop' && whenExhausted !== 'escalate') {
    throw new TypeError(`whenExhausted must be 'stop' or 'escalate', got ${String(whenExhausted)}`);
  }
  return Object.freeze({ onFailure, maxRestarts, withinMs, whenExhausted });
}

/** Pure: what to do about `error`, given when the actor was restarted before. */
export function decideFailure(
  policy: SupervisionPolicy,
  restartsAtMs: readonly number[],
  error: unknown,
  nowMs: number,
): SupervisionDecision {
  const directive = directiveFor(policy, error);
  if (directive !== 'restart') return { directive, restartsAtMs };
  const counted = restartsAtMs.filter((atMs) => nowMs - atMs < policy.withinMs);
  if (counted.length >= policy.maxRestarts) {
    return { directive: policy.whenExhausted, restartsAtMs: counted };
  }
  return { directive, restartsAtMs: [...counted, nowMs] };
}

function directiveFor(policy: SupervisionPolicy, error: unknown): FailureDirective {
  if (typeof policy.onFailure !== 'function') return policy.onFailure;
  try {
    const directive = policy.onFailure(error);
    return DIRECTIVES.includes(directive) ? directive : 'escalate';
  } catch {
    return 'escalate';
  }
}
