/**
 * The control thread's ear for BUSY: sleeps until a thread's report rings the bell, empties the rings, and takes the
 * number of reports from the counters in the arena, which also hold those that a full ring dropped or that came while
 * there was no control thread.
 */
import type { Arena } from '../shared/arena.js';
import { Doorbell } from '../shared/doorbell.js';
import { HEADER, RING_RECORDS, THREAD, TOTALS } from '../shared/layout.js';
import { RingConsumer, type RingHandler } from '../shared/message-ring.js';

const HANDLED = (HEADER.TOTALS + TOTALS.BUSY_HANDLED * 8) >>> 3;

/** Node 20 has it, the types of the language version that we compile for do not. */
type WaitAsync = (
  words: Int32Array,
  index: number,
  value: number,
) => { readonly async: false } | { readonly async: true; readonly value: Promise<unknown> };

export class BusyIntake {
  readonly #arena: Arena;
  readonly #doorbell: Doorbell;
  readonly #rings: readonly RingConsumer[];
  readonly #headers: readonly number[];
  readonly #onBusy: (count: number) => void;
  readonly #onRecord: RingHandler;
  #telling = false;
  #closed = false;

  /** `onRecord`: told of every record, those of BUSY included. */
  constructor(arena: Arena, onBusy: (count: number) => void, onRecord: RingHandler) {
    const { layout, buffer } = arena;
    const places = Array.from({ length: layout.capacity.threads }, (_, i) => layout.thread(i));
    this.#arena = arena;
    this.#doorbell = new Doorbell(buffer, HEADER.CONTROL_ASLEEP);
    this.#rings = places.map(({ ring }) => new RingConsumer(buffer, ring, RING_RECORDS));
    this.#headers = places.map(({ header }) => header);
    this.#onBusy = onBusy;
    this.#onRecord = onRecord;
  }

  start(): void {
    this.#telling = true;
    this.drain();
    this.#sleep();
  }

  close(): void {
    this.#closed = true;
  }

  /** To be called now and then: a thread that died between ringing the bell and waking us has left us asleep. */
  look(): void {
    this.drain();
    const { i32 } = this.#arena;
    const word = HEADER.CONTROL_ASLEEP >>> 2;
    if (Atomics.load(i32, word) === 0) Atomics.notify(i32, word);
  }

  drain(): void {
    for (const ring of this.#rings) ring.drain(this.#onRecord);
    // Before the start the counters keep what came.
    if (!this.#telling) return;
    const { f64 } = this.#arena;
    const total = this.#headers.reduce(
      (sum, header) => sum + (f64[(header + THREAD.BUSY) >>> 3] as number),
      0,
    );
    const count = total - (f64[HANDLED] as number);
    if (count <= 0) return;
    f64[HANDLED] = total;
    this.#onBusy(count);
  }

  /** What a thread that has ended had sent is drained; its ring is for the next one. */
  reset(index: number): void {
    this.drain();
    this.#rings[index]?.reset();
  }

  #sleep(): void {
    if (this.#closed) return;
    const { i32 } = this.#arena;
    const word = HEADER.CONTROL_ASLEEP >>> 2;
    this.#doorbell.arm();
    // Between the last drain and the bell something may have come.
    if (this.#rings.some((ring) => !ring.isEmpty())) this.#doorbell.disarm();
    const { waitAsync } = Atomics as unknown as { readonly waitAsync: WaitAsync };
    const wait = waitAsync(i32, word, 1);
    if (wait.async) void wait.value.then(() => this.#wake());
    else setImmediate(() => this.#wake());
  }

  #wake(): void {
    this.#doorbell.disarm();
    this.drain();
    this.#sleep();
  }
}
