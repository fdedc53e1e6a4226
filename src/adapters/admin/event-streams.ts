/**
 * The open `/events` streams. On connect a stream gets the whole state and what it has missed, then each event once and in
 * order, and the state without its lists once a second: one serialisation and one timer for all of them, and none
 * while there is no stream. Who does not read is dropped; what waits for it is bounded by the bound and one frame.
 */
import type { RecordedEvent, RuntimeState } from '../../workers/state/runtime-state.js';
import type { AdminSource } from './admin-source.js';

/** One connection. */
export interface StreamSink {
  write(frame: Buffer): void;
  /** Bytes that were written and that nobody has taken yet. */
  pendingBytes(): number;
  /** Ends it at once; what waits is lost. */
  drop(): void;
  end(): void;
}

export interface StreamBounds {
  readonly maxStreams: number;
  readonly maxPendingBytes: number;
}

/** Calls `tick` every `ms` until what it returns is called. */
export type Every = (ms: number, tick: () => void) => () => void;

/** Its state holds the newest of the recorded events. */
export interface StreamSource extends Pick<AdminSource, 'recordedEvents' | 'onRecorded'> {
  state(): RuntimeState;
}

interface Stream {
  readonly sink: StreamSink;
  /** Of the last event that it was given, or had. */
  seq: number;
}

const STATE_MS = 1000;
const HEARTBEAT_TICKS = 15;
const HEARTBEAT: Buffer = Buffer.from(':\n\n');
/** What clients are told to wait before they connect again. */
const RETRY = 'retry: 1000\n\n';

export class EventStreams {
  readonly #source: StreamSource;
  readonly #bounds: StreamBounds;
  readonly #every: Every;
  readonly #streams = new Set<Stream>();
  #stop: (() => void) | undefined;
  #ticks = 0;
  /** Of the last change of limits that all streams have. */
  #historySeq = 0;
  #isClosed = false;

  constructor(source: StreamSource, bounds: StreamBounds, every: Every = unheldInterval) {
    this.#source = source;
    this.#bounds = bounds;
    this.#every = every;
  }

  get count(): number {
    return this.#streams.size;
  }

  /**
   * @param lastEventId of the event that the client had last; undefined: it is new.
   * @returns what is to be called when the connection has ended; undefined: there is no room.
   */
  open(sink: StreamSink, lastEventId: number | undefined): (() => void) | undefined {
    if (this.#isClosed || this.#streams.size >= this.#bounds.maxStreams) return undefined;
    const state = this.#source.state();
    const newest = state.events.at(-1)?.seq ?? 0;
    // Of an earlier life of this process: everything is new.
    const since = lastEventId !== undefined && lastEventId > newest ? 0 : lastEventId;
    const stream: Stream = { sink, seq: since ?? newest };
    // The place in the order moves with the events: who had some before is behind until they are sent.
    const id = since === undefined ? newest : undefined;
    // Before there is anything to take back: what a store says need not be JSON.
    const first = Buffer.concat([Buffer.from(RETRY), stateFrame(state, id)]);
    if (this.#streams.size === 0) {
      this.#historySeq = state.history.at(-1)?.seq ?? 0;
      this.#start();
    }
    this.#streams.add(stream);
    this.#send(stream, first);
    this.#catchUp(stream);
    return () => this.#remove(stream);
  }

  /** Ends all streams, and takes no more. */
  close(): void {
    this.#isClosed = true;
    this.#endAll();
  }

  #endAll(): void {
    for (const stream of [...this.#streams]) {
      this.#remove(stream);
      stream.sink.end();
    }
  }

  #start(): void {
    this.#ticks = 0;
    const stopTicks = this.#every(STATE_MS, () => this.#tick());
    const stopRecords = this.#source.onRecorded((event) => this.#tell(event));
    this.#stop = () => {
      stopTicks();
      stopRecords();
    };
  }

  #remove(stream: Stream): void {
    if (!this.#streams.delete(stream) || this.#streams.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  #tell(event: RecordedEvent): void {
    const frame = recordFrame(event);
    for (const stream of [...this.#streams]) {
      if (event.seq <= stream.seq) continue;
      if (event.seq > stream.seq + 1) {
        this.#catchUp(stream);
        continue;
      }
      stream.seq = event.seq;
      this.#send(stream, frame);
    }
  }

  #catchUp(stream: Stream): void {
    const missed = this.#source.recordedEvents(stream.seq);
    const last = missed.at(-1);
    if (last === undefined) return;
    stream.seq = last.seq;
    this.#send(stream, Buffer.concat(missed.map(recordFrame)));
  }

  #tick(): void {
    this.#ticks += 1;
    let frame: Buffer;
    try {
      const state = this.#source.state();
      const history = state.history.filter(({ seq }) => seq > this.#historySeq);
      this.#historySeq = history.at(-1)?.seq ?? this.#historySeq;
      frame = stateFrame({ ...state, history, events: [] }, undefined);
    } catch {
      // A store that cannot be read must not end the process; clients come again, and are told.
      this.#endAll();
      return;
    }
    const frames = this.#ticks % HEARTBEAT_TICKS === 0 ? Buffer.concat([HEARTBEAT, frame]) : frame;
    for (const stream of [...this.#streams]) this.#send(stream, frames);
  }

  #send(stream: Stream, frame: Buffer): void {
    const { sink } = stream;
    if (sink.pendingBytes() <= this.#bounds.maxPendingBytes) {
      sink.write(frame);
      return;
    }
    this.#remove(stream);
    sink.drop();
  }
}

function stateFrame(state: RuntimeState, id: number | undefined): Buffer {
  const place = id === undefined ? '' : `id: ${id}\n`;
  return Buffer.from(`${place}event: state\ndata: ${JSON.stringify(state)}\n\n`);
}

/** JSON has no line breaks of its own, and escapes those of others. */
function recordFrame(event: RecordedEvent): Buffer {
  return Buffer.from(`id: ${event.seq}\nevent: record\ndata: ${JSON.stringify(event)}\n\n`);
}

function unheldInterval(ms: number, tick: () => void): () => void {
  const timer = setInterval(tick, ms);
  timer.unref();
  return () => clearInterval(timer);
}
