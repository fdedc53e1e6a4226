import { KvWriterCore, type PutOptions } from '../../../../src/actors/kv/writer/kv-writer-core.js';
import type { PutResult } from '../../../../src/actors/kv/writer/pending-record.js';
import {
  resolveWriterConfig,
  type WriterOptions,
} from '../../../../src/actors/kv/writer/writer-config.js';
import type {
  Exchange,
  PutAttempt,
  WriterTransport,
} from '../../../../src/actors/kv/writer/writer-ports.js';
import { createVirtualTime, type VirtualTime } from '../../../../src/testing/virtual-time.js';
import { createSignalHub } from '../../../../src/workers/signal-hub.js';

export interface Sent extends PutAttempt {
  readonly atMs: number;
  readonly keys: readonly string[];
  isOver: boolean;
  end(end: Exchange): void;
  /** Answers with one result for the bucket. */
  answer(result: object): void;
  take(pressure?: number): void;
}

/** What became of a put. */
export interface Fate {
  readonly key: string;
  settled: 'no' | 'resolved' | 'rejected';
  atMs: number;
  result?: PutResult;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields of whatever it was rejected with.
  error?: any;
  times: number;
}

class PlayedTransport implements WriterTransport {
  readonly sent: Sent[] = [];
  readonly time: VirtualTime;
  tables: Record<string, number | Record<number, string>> = { t: 8 };
  describes = 0;
  /** undefined: as `tables` says. */
  onDescribe: ((done: (end: Exchange) => void) => void) | undefined;
  onPut: (sent: Sent) => void = () => {};
  retained: readonly string[] = [];
  isClosed = false;
  #offsets = new Map<string, number>();

  constructor(time: VirtualTime) {
    this.time = time;
  }

  put(attempt: PutAttempt, done: (end: Exchange) => void): void {
    const sent: Sent = {
      ...attempt,
      atMs: this.time.nowMs,
      keys: attempt.records.map(({ key }) => String.fromCharCode(...key)),
      isOver: false,
      end: (end) => {
        sent.isOver = true;
        this.time.schedule(() => done(end));
      },
      answer: (result) =>
        sent.end({
          kind: 'response',
          response: { buckets: [{ bucket: attempt.bucket, ...result }] },
        }),
      take: (pressure) => {
        const name = `${attempt.table}/${attempt.bucket}`;
        const logEndOffset = (this.#offsets.get(name) ?? 0) + attempt.records.length;
        this.#offsets.set(name, logEndOffset);
        sent.answer({ errorCode: 0, errorMessage: '', logEndOffset, pressure });
      },
    };
    this.sent.push(sent);
    this.onPut(sent);
  }

  describe(_timeoutMs: number, done: (end: Exchange) => void): void {
    this.describes += 1;
    if (this.onDescribe !== undefined) {
      this.onDescribe(done);
      return;
    }
    this.time.schedule(() => done({ kind: 'response', response: this.metadata() }));
  }

  metadata(): object {
    return {
      tables: Object.entries(this.tables).map(([name, buckets]) => ({
        name,
        buckets:
          typeof buckets === 'number'
            ? Array.from({ length: buckets }, (_, bucket) => ({ bucket, leader: 'a:1' }))
            : Object.entries(buckets).map(([bucket, leader]) => ({
                bucket: Number(bucket),
                leader,
              })),
      })),
    };
  }

  retain(leaders: ReadonlySet<string>): void {
    this.retained = [...leaders];
  }

  close(): void {
    this.isClosed = true;
  }
}

export class WriterUnderTest {
  readonly time: VirtualTime = createVirtualTime({ maxRunsPerInstant: 1_000_000 });
  readonly transport: PlayedTransport = new PlayedTransport(this.time);
  readonly core: KvWriterCore;
  readonly fates: Fate[] = [];
  /** Whether what is armed would keep a process alive. */
  isHeldAlive = false;
  watching = 0;
  turnsTaken = 0;
  random = 0;

  constructor(options: WriterOptions = {}) {
    let cancel = (): void => {};
    const hub = createSignalHub();
    this.core = new KvWriterCore(resolveWriterConfig(options), {
      nowMs: this.time.clock,
      soon: this.time.schedule,
      turn: (run) => {
        this.turnsTaken += 1;
        this.time.schedule(run);
      },
      transport: this.transport,
      random: () => this.random,
      timer: {
        arm: (delayMs, wake, isIdle) => {
          cancel();
          this.isHeldAlive = !isIdle;
          // As real timers do: whole milliseconds, at least one.
          cancel = this.time.setTimer(Math.max(1, Math.ceil(delayMs)), () => {
            this.isHeldAlive = false;
            wake();
          });
        },
        disarm: () => {
          cancel();
          this.isHeldAlive = false;
        },
      },
      watch: (signal, onAbort) => {
        this.watching += 1;
        const unwatch = hub.watch(signal, onAbort);
        return () => {
          this.watching -= 1;
          unwatch();
        };
      },
    });
    this.core.start();
  }

  get sent(): readonly Sent[] {
    return this.transport.sent;
  }

  /** Attempts that are not answered. */
  get flying(): readonly Sent[] {
    return this.sent.filter(({ isOver }) => !isOver);
  }

  put(key: string, options: PutOptions & { table?: string; value?: Uint8Array | null } = {}): Fate {
    const { table = 't', value = new Uint8Array(4), ...rest } = options;
    const fate: Fate = { key, settled: 'no', atMs: Number.NaN, times: 0 };
    this.fates.push(fate);
    const bytes = Uint8Array.from(key, (one) => one.charCodeAt(0));
    this.core.put(table, bytes, value, rest).then(
      (result) => Object.assign(fate, { settled: 'resolved', result, times: fate.times + 1 }),
      (error: unknown) =>
        Object.assign(fate, { settled: 'rejected', error, times: fate.times + 1 }),
    );
    return fate;
  }

  async advance(ms: number): Promise<void> {
    this.time.advanceBy(ms);
    await this.turns();
  }

  /** Lets promises that are settled say so. */
  async turns(): Promise<void> {
    this.time.settle();
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.time.settle();
  }
}
