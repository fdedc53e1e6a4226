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
import { frozen } from './frozen.js';
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

export interface Throttled {
  /** The most severe first. */
  readonly pairs: readonly ThrottledPair[];
  /** Theirs, in the order in which they were given. */
  readonly limits: readonly LimitSnapshot[];
}

export class ThrottleHistory {
  readonly #records = new Recent<ThrottleRecord>(CAPACITY);
  readonly #pairs = new Map<string, Tracked>();
  #seq = 0;

  note(kind: ThrottleRecord['kind'], change: ThrottleChange): void {
    const { level, atMs, reason: cause, changes, changed } = change;
    this.#seq += 1;
    const record: ThrottleRecord = {
      seq: this.#seq,
      atMs,
      kind,
      level,
      reason: throttleReasonText(cause),
      cause,
      changed,
      changes: changes.slice(0, MAX_RECORDED_PAIRS),
    };
    this.#records.push(frozen(record));
    for (const move of changes) this.#follow(kind, move, atMs);
  }

  /** Oldest first. */
  records(): readonly ThrottleRecord[] {
    return this.#records.newest();
  }

  /**
   * What is known of the `most` most severely slowed of `limits`, which are all that are in force. With many of them the
   * time goes into their ids, so each is made once.
   */
  throttled(limits: readonly LimitSnapshot[], most: number): Throttled {
    const ids = limits.map(pairId);
    this.#forget(ids);
    const severest = new Hottest(most);
    limits.forEach(({ currentQps, qpsLimit }, i) => {
      const before = this.#pairs.get(ids[i] as string)?.qpsBefore ?? 0;
      severest.offer(i, Math.max(before, currentQps, qpsLimit) / qpsLimit);
    });
    const places = severest.ranked().map(({ id }) => id);
    const pairs = places.map((i): ThrottledPair => {
      const { rpc, table, qpsLimit, currentQps, sinceMs } = limits[i] as LimitSnapshot;
      const known = this.#pairs.get(ids[i] as string);
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
    return {
      pairs,
      limits: places.toSorted((a, b) => a - b).map((i) => limits[i] as LimitSnapshot),
    };
  }

  /** Forgets pairs that are not slowed any more: a control thread that died may not have said so. */
  forget(limits: readonly LimitSnapshot[]): void {
    this.#forget(limits.map(pairId));
  }

  #forget(ids: readonly string[]): void {
    if (this.#pairs.size === 0) return;
    const inForce = new Set(ids);
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
