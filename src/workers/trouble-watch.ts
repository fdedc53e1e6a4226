/**
 * Looks into the arena for what an operator should hear of though no thread sends a message for it: a directory that is
 * full, rings that drop, calls that are refused. Each is told when it begins, and while it goes on once a minute.
 * Control thread only.
 */
import type { Arena } from '../shared/arena.js';
import { STATS } from '../shared/kernel/port.js';
import type { KeyDirectory } from '../shared/key-directory.js';
import { CIRCUIT_STATS, RING_RECORDS } from '../shared/layout.js';
import { RingConsumer } from '../shared/message-ring.js';
import { RECORD } from './report-ring.js';
import type { RpcTable } from './rpc-table.js';
import type { ControlEvent } from './runtime-events.js';

const AGAIN_MS = 60_000;
/** The log has room for one line a second about an RPC type: what is told of its stages keeps this far apart. */
const APART_MS = 1500;
const STAGES = ['host', 'table'] as const;
const { BUSY: _busy, ...OTHER_RECORDS } = RECORD;

/** A total that should stand still. */
export class Standstill {
  #told: number;
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(total: number) {
    this.#told = total;
  }

  /** How much came since it was told of last, if that is to be told now, else 0. */
  look(total: number, nowMs: number): number {
    const more = total - this.#told;
    if (!(more > 0) || nowMs - this.#toldMs < AGAIN_MS) return 0;
    this.#told = total;
    this.#toldMs = nowMs;
    return more;
  }
}

export interface TroubleParts {
  readonly arena: Arena;
  readonly rpcs: RpcTable;
  readonly directory: KeyDirectory;
}

export class TroubleWatch {
  readonly #parts: TroubleParts;
  readonly #places: ReturnType<Arena['layout']['thread']>[];
  readonly #rings: RingConsumer[];
  readonly #totals = new Map<string, Standstill>();
  /** When calls of an RPC type were last told to be refused, by name. */
  readonly #toldMs = new Map<string, number>();
  #isNew = true;

  /** What has come until now is no news. */
  constructor(parts: TroubleParts) {
    this.#parts = parts;
    const { buffer, layout } = parts.arena;
    const places = Array.from({ length: layout.capacity.threads }, (_, i) => layout.thread(i));
    this.#places = places;
    this.#rings = places.map(({ ring }) => new RingConsumer(buffer, ring, RING_RECORDS));
    this.look(0);
    this.#isNew = false;
  }

  /** What is to be told now. Call it about once a second. */
  look(nowMs: number): readonly ControlEvent[] {
    const { directory, rpcs } = this.#parts;
    const events: ControlEvent[] = [];
    const { used, capacity, overflow } = directory.use();
    const calls = this.#more('directory', overflow, nowMs);
    if (calls > 0) events.push({ name: 'directory-full', event: { used, capacity, calls } });
    const failures = this.#more('addresses', this.#untracked(), nowMs);
    if (failures > 0) events.push({ name: 'addresses-full', event: { failures } });
    const dropped = this.#drops();
    const records = this.#more('rings', dropped.busy + dropped.other, nowMs);
    if (records > 0) events.push({ name: 'ring-drops', event: { records, ...dropped } });
    for (const { id, name: rpc } of rpcs.all()) {
      for (const stage of STAGES) {
        // The other one is told in a moment.
        if (nowMs - (this.#toldMs.get(rpc) ?? Number.NEGATIVE_INFINITY) < APART_MS) break;
        const refused = this.#more(`${stage} ${rpc}`, this.#refused(id, stage), nowMs);
        if (refused === 0) continue;
        this.#toldMs.set(rpc, nowMs);
        events.push({ name: 'calls-refused', event: { rpc, stage, refused } });
      }
    }
    return events;
  }

  #more(name: string, total: number, nowMs: number): number {
    let known = this.#totals.get(name);
    if (known === undefined) {
      known = new Standstill(this.#isNew ? total : 0);
      this.#totals.set(name, known);
    }
    return known.look(total, nowMs);
  }

  #refused(rpcId: number, stage: 'host' | 'table'): number {
    return this.#sum((place) => place.stats(rpcId, stage) + STATS.REFUSED);
  }

  #untracked(): number {
    return this.#sum(({ circuits }) => circuits + CIRCUIT_STATS.UNTRACKED);
  }

  #sum(at: (place: ReturnType<Arena['layout']['thread']>) => number): number {
    const { f64 } = this.#parts.arena;
    return this.#places.reduce((sum, place) => sum + (f64[at(place) >>> 3] as number), 0);
  }

  #drops(): { readonly busy: number; readonly other: number } {
    const of = (kinds: readonly number[]): number =>
      this.#rings.reduce(
        (all, ring) => all + kinds.reduce((sum, kind) => sum + ring.drops(kind), 0),
        0,
      );
    return { busy: of([RECORD.BUSY]), other: of(Object.values(OTHER_RECORDS)) };
  }
}
