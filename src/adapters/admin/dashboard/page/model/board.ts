import type {
  RecordedEvent,
  RuntimeState,
  ThrottledPair,
  ThrottleRecord,
} from '../../../../../workers/state/runtime-state.js';
import { clientWindows } from './client-windows.js';
import { PairLines } from './pair-lines.js';
import { type RpcRates, rpcRates } from './rpc-rates.js';
import { Series } from './series.js';
import { bySeverity } from './severity.js';

/** Events and changes that are kept, each. */
const KEPT = 1000;

/** All that the page knows: the last state, and what of earlier ones it remembers. */
export class Board {
  #state: RuntimeState | undefined;
  #events: RecordedEvent[] = [];
  #history: ThrottleRecord[] = [];
  #throttled: readonly ThrottledPair[] = [];
  #rates: readonly RpcRates[] = [];
  /** Table limits changed at this time, and the history does not tell of it yet. */
  #untoldMs = Number.NEGATIVE_INFINITY;
  #busy = new Series();
  #level = new Series();
  #pressure = new Series();
  #pairs = new PairLines();

  get state(): RuntimeState | undefined {
    return this.#state;
  }

  /** The most severe first. */
  get throttled(): readonly ThrottledPair[] {
    return this.#throttled;
  }

  /** Oldest first. */
  get events(): readonly RecordedEvent[] {
    return this.#events;
  }

  /** Oldest first. */
  get history(): readonly ThrottleRecord[] {
    return this.#history;
  }

  /** Between the last two states. */
  get rates(): readonly RpcRates[] {
    return this.#rates;
  }

  /** BUSY answers per second. */
  get busy(): Series {
    return this.#busy;
  }

  get level(): Series {
    return this.#level;
  }

  /** Highest pressure of all buckets, told by the stores here and to the clients here. */
  get pressure(): Series {
    return this.#pressure;
  }

  get pairs(): PairLines {
    return this.#pairs;
  }

  /** The highest number of an event, 0 for none: what a new stream need not repeat. */
  get lastSeq(): number {
    return this.#events.at(-1)?.seq ?? 0;
  }

  /** The history is behind the events: the whole state is to be asked for. */
  get historyBehind(): boolean {
    return this.#untoldMs > (this.#history.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY);
  }

  /**
   * Takes over a state. One of another runtime begins everything anew; one that is older than what is shown is left out.
   * Its events and history may be those since the last one, or all.
   */
  apply(state: RuntimeState): void {
    const before = this.#state;
    const changed = before !== undefined && before.runtimeId !== state.runtimeId;
    if (changed) this.#forget();
    this.#events = merged(this.#events, state.events);
    const historyFrom = this.#history.at(-1)?.seq ?? 0;
    this.#history = merged(this.#history, state.history);
    const first = before === undefined || changed;
    for (const record of this.#history) {
      if (record.seq <= historyFrom) continue;
      this.#level.push(record.atMs, record.level);
      this.#pairs.tell(record);
    }
    if (!first && state.atMs <= before.atMs) return;
    this.#measure(first ? undefined : before, state);
    this.#state = state;
    this.#throttled = [...state.throttled].sort(bySeverity);
  }

  record(event: RecordedEvent): void {
    this.#events = merged(this.#events, [event]);
    if (event.name !== 'upgrade' && event.name !== 'downgrade' && event.name !== 'lifted') return;
    this.#untoldMs = Math.max(this.#untoldMs, event.event.atMs);
  }

  #measure(before: RuntimeState | undefined, after: RuntimeState): void {
    const { runtime, atMs } = after;
    const spanMs = before === undefined ? 1 : atMs - before.atMs;
    this.#pressure.push(atMs, highestPressure(after));
    if (runtime === null) return;
    this.#rates = runtime.rpcs.map((rpc) =>
      rpcRates(
        before?.runtime?.rpcs.find((one) => one.rpc === rpc.rpc),
        rpc,
        spanMs,
      ),
    );
    this.#level.push(atMs, runtime.level);
    const busyBefore = before?.runtime?.throttle.busy;
    if (busyBefore !== undefined) {
      const answers = Math.max(0, runtime.throttle.busy - busyBefore);
      this.#busy.push(atMs, (answers * 1000) / spanMs);
    }
    this.#pairs.measure(atMs, after.throttled, after.hottest ?? []);
  }

  #forget(): void {
    this.#state = undefined;
    this.#events = [];
    this.#history = [];
    this.#throttled = [];
    this.#rates = [];
    this.#untoldMs = Number.NEGATIVE_INFINITY;
    this.#busy = new Series();
    this.#level = new Series();
    this.#pressure = new Series();
    this.#pairs = new PairLines();
  }
}

/** Both in order, each once, the newest 1000. */
function merged<One extends { readonly seq: number }>(kept: One[], more: readonly One[]): One[] {
  const last = kept.at(-1)?.seq ?? 0;
  const isNewer = more.every(({ seq }, i) => seq > (i === 0 ? last : (more[i - 1] as One).seq));
  if (isNewer) return more.length === 0 ? kept : [...kept, ...more].slice(-KEPT);
  const all = new Map([...kept, ...more].map((one) => [one.seq, one]));
  return [...all.values()].sort((a, b) => a.seq - b.seq).slice(-KEPT);
}

/** 0 to 1; 0 also where nothing tells of any. */
export function highestPressure({ stores, runtime }: RuntimeState): number {
  const ofStores = stores.flatMap(({ tables }) => tables.map(({ maxPressure }) => maxPressure));
  const told = clientWindows(runtime).map(({ pressure }) => pressure);
  return [...ofStores, ...told].reduce((most, one) => Math.max(most, one), 0);
}
