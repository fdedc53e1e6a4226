import type { ActorRef } from '../core/actor-ref.js';
import type { ActorContext, Behavior, TimerId } from '../core/behavior.js';
import { RollingCount } from './rolling-count.js';

/** What is counted. */
export type ThrottleCounter = 'upgrades' | 'downgrades' | 'busy';

/** Totals since the start, and the last 60 seconds. */
export interface ThrottleMetrics {
  /** Upgrades that were due, also those that found nothing to limit. */
  readonly upgrades: number;
  readonly downgrades: number;
  /** BUSY answers. */
  readonly busy: number;
  readonly upgrades60s: number;
  readonly downgrades60s: number;
  readonly busy60s: number;
}

export type MetricsMessage =
  | { readonly kind: 'count'; readonly counter: ThrottleCounter; readonly n: number }
  | { readonly kind: 'publish' }
  | { readonly kind: 'report'; readonly replyTo: ActorRef<ThrottleMetrics> };

export interface MetricsOptions {
  /** Totals to go on from. Default: zeros. */
  readonly totals?: Pick<ThrottleMetrics, ThrottleCounter>;
  /**
   * Port: given the metrics at most once in `publishMs` after something was counted, and as long as a 60 s window is not
   * empty; never while all is quiet.
   */
  readonly publish?: (metrics: ThrottleMetrics) => void;
  /** Default 1000 ms. */
  readonly publishMs?: number;
}

interface Counter {
  total: number;
  readonly lastMinute: RollingCount;
}

export interface MetricsState {
  readonly counters: Readonly<Record<ThrottleCounter, Counter>>;
  timer: TimerId | undefined;
}

/** Counts upgrades, downgrades and BUSY answers. */
export function createMetricsBehavior(
  options: MetricsOptions = {},
): Behavior<MetricsState, MetricsMessage> {
  const { publish, publishMs = 1000, totals } = options;
  return {
    initialState: () => ({
      counters: {
        upgrades: newCounter(totals?.upgrades),
        downgrades: newCounter(totals?.downgrades),
        busy: newCounter(totals?.busy),
      },
      timer: undefined,
    }),
    receive(state, message, context) {
      switch (message.kind) {
        case 'count':
          count(state, message.counter, message.n, context.nowMs());
          if (publish !== undefined) arm(state, publishMs, context);
          break;
        case 'publish': {
          const metrics = report(state, context.nowMs());
          state.timer = undefined;
          publish?.(metrics);
          if (metrics.busy60s + metrics.upgrades60s + metrics.downgrades60s > 0) {
            arm(state, publishMs, context);
          }
          break;
        }
        case 'report':
          context.tell(message.replyTo, report(state, context.nowMs()));
          break;
      }
      return state;
    },
  };
}

function newCounter(total = 0): Counter {
  return { total, lastMinute: new RollingCount({ windowMs: 60_000, buckets: 60 }) };
}

function count(state: MetricsState, name: ThrottleCounter, n: number, nowMs: number): void {
  const counter = state.counters[name];
  counter.lastMinute.add(n, nowMs);
  counter.total += n;
}

function arm(state: MetricsState, delayMs: number, context: ActorContext<MetricsMessage>): void {
  if (state.timer === undefined) state.timer = context.after(delayMs, { kind: 'publish' });
}

function report({ counters }: MetricsState, nowMs: number): ThrottleMetrics {
  return {
    upgrades: counters.upgrades.total,
    downgrades: counters.downgrades.total,
    busy: counters.busy.total,
    upgrades60s: counters.upgrades.lastMinute.total(nowMs),
    downgrades60s: counters.downgrades.lastMinute.total(nowMs),
    busy60s: counters.busy.lastMinute.total(nowMs),
  };
}
