import type { LimitAction, ThrottleChange } from 'spillway';
import type { LimitInForce, TimelineEntry } from './run-record.js';

/** The limits in force over time, from the changes that the runtime tells of. */
export class LimitTimeline {
  readonly #entries: TimelineEntry[] = [];
  readonly #limits = new Map<string, LimitInForce>();
  #startMs = 0;

  /** @param startMs when the load begins, ms since the runtime's epoch. */
  start(startMs: number): void {
    this.#startMs = startMs;
    this.#entries.push({ atMs: 0, level: 0, limits: [] });
  }

  apply({ level, actions, atMs }: ThrottleChange): void {
    // An upgrade that found nothing to slow changes nothing.
    if (actions.length === 0) return;
    for (const action of actions) this.#act(action);
    this.#entries.push({
      atMs: Math.round(atMs - this.#startMs),
      level,
      limits: [...this.#limits.entries()].sort(byKey).map(([, limit]) => limit),
    });
  }

  get entries(): readonly TimelineEntry[] {
    return this.#entries;
  }

  get newest(): TimelineEntry | undefined {
    return this.#entries.at(-1);
  }

  #act(action: LimitAction): void {
    const { rpc, table } = action;
    const key = `${rpc} ${table}`;
    if (action.type === 'remove_limit') this.#limits.delete(key);
    else this.#limits.set(key, { rpc, table, qpsLimit: action.qpsLimit });
  }
}

function byKey([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}
