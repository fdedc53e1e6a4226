import {
  type LimitAction,
  type PairLimit,
  pairId,
} from '../../../src/actors/throttle/limit-action.js';
import type { LimitPort } from '../../../src/actors/throttle/ports.js';

/** Limits in memory. They outlive the actors, as those in the arena do. */
export class MemoryLimits implements LimitPort {
  readonly applied: LimitAction[] = [];
  readonly #limits = new Map<string, PairLimit>();
  /** Thrown by the next so many calls of `apply`, half of the actions done. */
  failures = 0;

  apply(actions: readonly LimitAction[]): void {
    const fails = this.failures > 0;
    if (fails) this.failures -= 1;
    const done = fails ? actions.slice(0, Math.floor(actions.length / 2)) : actions;
    for (const action of done) {
      const { rpc, table } = action;
      if (action.type === 'remove_limit') this.#limits.delete(pairId(action));
      else this.#limits.set(pairId(action), { rpc, table, qpsLimit: action.qpsLimit });
      this.applied.push(action);
    }
    if (fails) throw new Error('the limiter port failed');
  }

  inForce(): readonly PairLimit[] {
    return [...this.#limits.values()];
  }

  /** `rpc/table: limit`, sorted. */
  get shown(): string[] {
    return this.inForce()
      .map(({ rpc, table, qpsLimit }) => `${rpc}/${table}: ${qpsLimit}`)
      .sort();
  }
}
