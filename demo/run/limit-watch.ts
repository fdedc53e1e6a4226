import type { RuntimeSnapshot } from 'spillway';
import type { LimitInForce, TimelineEntry } from './run-record.js';

/** How often the limits in force are looked at; a level lives many times as long. */
const lookMs = 20;

/** Writes down each change of the limits in force, from the start of the load on. */
export class LimitWatch {
  readonly #snapshot: () => RuntimeSnapshot;
  readonly #timeline: TimelineEntry[] = [];
  #startNs = 0n;
  #timer: NodeJS.Timeout | undefined;

  constructor(snapshot: () => RuntimeSnapshot) {
    this.#snapshot = snapshot;
  }

  start(startNs: bigint): void {
    this.#startNs = startNs;
    this.#timer = setInterval(() => this.look(), lookMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get timeline(): readonly TimelineEntry[] {
    return this.#timeline;
  }

  /** The newest entry after one more look. */
  look(): TimelineEntry {
    const { level, limits } = this.#snapshot();
    const entry: TimelineEntry = {
      atMs: Math.round(Number(process.hrtime.bigint() - this.#startNs) / 1e6),
      level,
      limits: limits
        .map(({ rpc, table, qpsLimit }) => ({ rpc, table, qpsLimit }))
        .sort((left, right) => key(left).localeCompare(key(right))),
    };
    const last = this.#timeline.at(-1);
    if (last !== undefined && sameState(last, entry)) return last;
    this.#timeline.push(entry);
    return entry;
  }
}

function key({ rpc, table }: LimitInForce): string {
  return `${rpc} ${table}`;
}

function sameState(left: TimelineEntry, right: TimelineEntry): boolean {
  return left.level === right.level && JSON.stringify(left.limits) === JSON.stringify(right.limits);
}
