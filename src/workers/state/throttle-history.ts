/**
 * Which table limits were changed when and why, and since when each pair is slowed. Lives with the owner, so it outlives
 * control threads: what a dying one could not report is unknown here (null), never wrong for long.
 */
import { Hottest } from '../../actors/throttle/hottest.js';
import { pairId } from '../../actors/throttle/limit-action.js';
import type { LimitMove } from '../../actors/throttle/limit-move.js';
import type { ThrottleChange } from '../runtime-events.js';
import type { LimitSnapshot } from '../snapshot.js';
import { MAX_RECORDED_PAIRS } from './event-log.js';
import { Recent } from './recent.js';
import type { ThrottledPair, ThrottleRecord } from './runtime-state.js';
import { throttleReasonText } from './throttle-reason-text.js';

const CAPACITY = 1000;

interface Tracked {
  readonly qpsBefore: number | null;
  readonly sinceMs: number | null;
  readonly changedMs: number;
  readonly steps: number;
}

export class ThrottleHistory {
  readonly #records = new Recent<ThrottleRecord>(CAPACITY);
  readonly #pairs = new Map<string, Tracked>();
  #seq = 0;

  note(kind: ThrottleRecord['kind'], change: ThrottleChange): void {
    const { level, atMs, reason: cause, changes, changed } = change;
    this.#seq += 1;
    this.#records.push({
      seq: this.#seq,
      atMs,
      kind,
      level,
      reason: throttleReasonText(cause),
      cause,
      changed,
      changes: changes.slice(0, MAX_RECORDED_PAIRS),
    });
    for (const move of changes) this.#follow(kind, move, atMs);
  }

  /** Oldest first. */
  records(): readonly ThrottleRecord[] {
    return this.#records.newest();
  }

  /** What is known of the `most` most severely slowed of `limits`, which are all that are in force. */
  throttled(limits: readonly LimitSnapshot[], most: number): readonly ThrottledPair[] {
    this.forget(limits);
    const severest = new Hottest(most);
    limits.forEach((limit, i) => {
      const before = this.#pairs.get(pairId(limit))?.qpsBefore ?? 0;
      severest.offer(i, Math.max(before, limit.currentQps, limit.qpsLimit) / limit.qpsLimit);
    });
    return severest.ranked().map(({ id }): ThrottledPair => {
      const { rpc, table, qpsLimit, currentQps, sinceMs } = limits[id] as LimitSnapshot;
      const known = this.#pairs.get(pairId({ rpc, table }));
      return {
        rpc,
        table,
        qpsLimit,
        currentQps,
        qpsBefore: known?.qpsBefore ?? null,
        sinceMs: known?.sinceMs ?? sinceMs,
        changedMs: known?.changedMs ?? null,
        // One that no record explains is undone by one downgrade.
        steps: known?.steps ?? 1,
      };
    });
  }

  /** Forgets pairs that are not slowed any more: a control thread that died may not have said so. */
  forget(limits: readonly LimitSnapshot[]): void {
    if (this.#pairs.size === 0) return;
    const inForce = new Set(limits.map(pairId));
    for (const id of this.#pairs.keys()) if (!inForce.has(id)) this.#pairs.delete(id);
  }

  #follow(kind: ThrottleRecord['kind'], move: LimitMove, atMs: number): void {
    const id = pairId(move);
    if (move.after === null) {
      this.#pairs.delete(id);
      return;
    }
    const isFirst = move.before === null;
    const known = isFirst ? undefined : this.#pairs.get(id);
    const steps = (known?.steps ?? (isFirst ? 0 : 1)) + (kind === 'upgrade' ? 1 : -1);
    this.#pairs.set(id, {
      qpsBefore: isFirst ? move.qps : (known?.qpsBefore ?? null),
      sinceMs: isFirst ? atMs : (known?.sinceMs ?? null),
      changedMs: atMs,
      steps: Math.max(1, steps),
    });
  }
}
