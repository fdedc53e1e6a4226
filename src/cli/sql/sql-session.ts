/** One client of the endpoint, after it has been let in: its messages, in batches, to its engine and back. */
import type { Socket } from 'node:net';
import { type Engine, EngineGone } from './engine.js';
import type { EngineShelf } from './engine-shelf.js';
import type { FreshRows } from './fresh-rows.js';
import { cString, type Frame, FrameError, MessageFrames } from './message-frames.js';
import { mayReadTables } from './reads-tables.js';
import { errorResponse, readyForQuery, type WireError } from './wire-messages.js';

export interface SessionLimits {
  /** Of one batch, from its arrival, ms. */
  readonly timeoutMs: number;
  /** Of what a client sends in one batch. */
  readonly maxQueryBytes: number;
  /** Of what is answered to one batch. */
  readonly maxResultBytes: number;
}

/** What the frontend may send once it is in; an engine ends when it meets another. */
const KNOWN = 'QPBDECHSFdcf';
const STARTS_ANEW =
  'The session starts anew: its settings, prepared statements and open transaction are gone.';

export class SqlSession {
  readonly #shelf: EngineShelf;
  readonly #rows: FreshRows;
  readonly #limits: SessionLimits;
  readonly #socket: Socket;
  readonly #frames: MessageFrames;
  #engine: Engine;
  #batch: Frame[] = [];
  #batchBytes = 0;
  /** Of batches that have not been answered. */
  #waitingBytes = 0;
  #working: Promise<void> = Promise.resolve();
  #closed = false;
  /** `I`, `T` or `E`, as the engine said last. */
  #status = 'I';
  /** Whether the open transaction has its rows already. */
  #hasRows = false;
  #running = false;
  #stopped: WireError | undefined;

  constructor(parts: {
    shelf: EngineShelf;
    rows: FreshRows;
    limits: SessionLimits;
    socket: Socket;
    engine: Engine;
  }) {
    this.#shelf = parts.shelf;
    this.#rows = parts.rows;
    this.#limits = parts.limits;
    this.#socket = parts.socket;
    this.#engine = parts.engine;
    this.#frames = new MessageFrames(parts.limits.maxQueryBytes);
  }

  /** Bytes of the client. */
  receive(chunk: Uint8Array): void {
    if (this.#closed) return;
    try {
      for (const frame of this.#frames.push(chunk)) this.#accept(frame);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#fail('08P01', `protocol violation: ${error.message}`);
    }
  }

  /** What the client asks for with a cancel request. */
  cancel(): void {
    this.#stop({
      severity: 'ERROR',
      code: '57014',
      text: 'canceling statement due to user request',
      hint: STARTS_ANEW,
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#shelf.discard(this.#engine);
  }

  #accept(frame: Frame): void {
    if (this.#closed) return;
    if (frame.type === 'X') {
      this.#queue(async () => {
        this.#socket.end();
        await this.close();
      });
      return;
    }
    if (!KNOWN.includes(frame.type))
      throw new FrameError(`a message of the type ${JSON.stringify(frame.type)}`);
    this.#batch.push(frame);
    this.#batchBytes += frame.bytes.length;
    if (this.#batchBytes > this.#limits.maxQueryBytes)
      throw new FrameError('too many messages before a Sync');
    if (!'QSHFcf'.includes(frame.type)) return;
    const batch = this.#batch;
    const bytes = this.#batchBytes;
    this.#batch = [];
    this.#batchBytes = 0;
    this.#waitingBytes += bytes;
    // It is read on while a query runs: else nobody would notice that the client has left. What waits is bounded.
    if (this.#waitingBytes > this.#limits.maxQueryBytes) this.#socket.pause();
    this.#queue(async () => {
      await this.#work(batch);
      this.#waitingBytes -= bytes;
      if (this.#waitingBytes <= this.#limits.maxQueryBytes) this.#socket.resume();
    });
  }

  #queue(work: () => Promise<void>): void {
    this.#working = this.#working.then(work).catch((error) => this.#crash(error));
  }

  async #work(batch: readonly Frame[]): Promise<void> {
    if (this.#closed) return;
    this.#running = true;
    this.#stopped = undefined;
    const { timeoutMs } = this.#limits;
    const timer = setTimeout(() => {
      this.#stop({
        severity: 'ERROR',
        code: '57014',
        text: `canceling statement due to statement timeout of ${timeoutMs} ms`,
        hint: STARTS_ANEW,
      });
    }, timeoutMs);
    try {
      const fresh = this.#wantsRows(batch);
      const files = fresh ? await this.#rows.read() : [];
      if (fresh) this.#hasRows = true;
      const bytes = Buffer.concat(batch.map((frame) => frame.bytes));
      await this.#engine.run({ files, bytes }, this.#answer());
      if (this.#status === 'I') this.#hasRows = false;
    } catch (error) {
      if (!(error instanceof EngineGone)) throw error;
      await this.#startAnew(error);
    } finally {
      clearTimeout(timer);
      this.#running = false;
    }
    await this.#drained();
  }

  /** Rows are read once for a batch, and once for a transaction. */
  #wantsRows(batch: readonly Frame[]): boolean {
    if (this.#hasRows) return false;
    const texts = batch.flatMap(({ type, body }) => {
      if (type === 'Q') return [cString(body, 0).text];
      if (type === 'P') return [cString(body, cString(body, 0).next).text];
      return [];
    });
    if (texts.some(mayReadTables)) return batch.some(({ type }) => type === 'Q' || type === 'E');
    // It executes what was prepared before: that may be anything.
    const executed = batch.filter(({ type }) => type === 'E' || type === 'Q').length;
    return executed > texts.length;
  }

  /** Passes whole messages on, so that an error of ours can follow at any time. */
  #answer(): (bytes: Uint8Array) => void {
    const frames = new MessageFrames(2 ** 30);
    let total = 0;
    return (bytes) => {
      if (this.#stopped !== undefined) return;
      total += bytes.byteLength;
      if (total > this.#limits.maxResultBytes) {
        this.#stop({
          severity: 'ERROR',
          code: '54000',
          text: `the result is larger than ${this.#limits.maxResultBytes} bytes`,
          hint: STARTS_ANEW,
        });
        return;
      }
      const whole = frames.push(bytes);
      for (const { type, body } of whole) {
        if (type === 'Z') this.#status = String.fromCharCode(body[0] ?? 0);
      }
      if (whole.length > 0) this.#socket.write(Buffer.concat(whole.map((frame) => frame.bytes)));
    };
  }

  #stop(why: WireError): void {
    if (!this.#running || this.#stopped !== undefined || this.#closed) return;
    this.#stopped = why;
    void this.#shelf.discard(this.#engine, why.text);
  }

  async #startAnew(error: EngineGone): Promise<void> {
    if (this.#closed) return;
    const why: WireError = this.#stopped ?? {
      severity: 'ERROR',
      code: 'XX000',
      text: `the engine has ended: ${error.message}`,
      hint: STARTS_ANEW,
    };
    await this.#shelf.discard(this.#engine);
    this.#engine = await this.#shelf.take();
    if (this.#closed) return this.#shelf.discard(this.#engine);
    this.#status = 'I';
    this.#hasRows = false;
    this.#socket.write(Buffer.concat([errorResponse(why), readyForQuery()]));
  }

  async #drained(): Promise<void> {
    if (!this.#socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      this.#socket.once('drain', resolve);
      this.#socket.once('close', () => resolve());
    });
  }

  #crash(error: unknown): void {
    if (error instanceof FrameError) this.#fail('08P01', `protocol violation: ${error.message}`);
    else this.#fail('XX000', error instanceof Error ? error.message : String(error));
  }

  #fail(code: string, text: string): void {
    if (this.#closed) return;
    this.#socket.end(errorResponse({ severity: 'FATAL', code, text }));
    void this.close();
  }
}
