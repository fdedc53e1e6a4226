import type { ActorRef } from '../../actors/core/actor-ref.js';
import { type ActorSystem, createActorSystem } from '../../actors/core/actor-system.js';
import type { EnginePort, EngineSample, KeyRange } from '../../actors/kv/engine-port.js';
import { createFlushScheduler } from '../../actors/kv/flush-scheduler.js';
import type { KvRecord } from '../../actors/kv/kv-record.js';
import type { LogBatch } from '../../actors/kv/log-port.js';
import { refuseKey, refusePut } from '../../actors/kv/put-limits.js';
import { createTabletBehavior } from '../../actors/kv/tablet-actor.js';
import type {
  Completion,
  GetReply,
  PutReply,
  ScanReply,
  TabletMessage,
  TabletStatus,
} from '../../actors/kv/tablet-message.js';
import { refuseAttempt, WriterFence } from '../../actors/kv/writer-fence.js';
import { AskTimeoutError } from '../../shared/errors.js';
import { DirectoryVersionError, KV_CODES, type KvErrorCode } from '../../shared/kv-errors.js';
import { engineTrigger } from '../../shared/pressure/flush-budget.js';
import { createTimerDriver } from '../real-timer-driver.js';
import type { EngineFactory } from './engine-messages.js';
import { EngineThread } from './engine-thread.js';
import {
  type KvTables,
  lockDir,
  logDir,
  mergedTables,
  tabletDir,
  tabletName,
  writeMarker,
} from './kv-directory.js';
import { type KvTableStats, TableMeters } from './kv-meters.js';
import { type KvStoreOptions, type ResolvedKvOptions, resolveKvOptions } from './kv-options.js';
import { LogThread } from './log/log-thread.js';
import { refuseCompletion, refuseTimeout } from './refuse-call.js';

export interface KvStoreStats {
  readonly tables: readonly KvTableStats[];
  /** Bytes of the log on disk. */
  readonly logBytes: number;
}

export interface KvPutOptions {
  readonly completion?: Completion;
  readonly timeoutMs?: number;
  /** Names a writer that numbers its attempts: those that come out of order are refused. */
  readonly writer?: string;
  readonly attempt?: number;
}

/** What a read that is refused gets. */
export interface KvRefusal {
  readonly ok: false;
  readonly code: KvErrorCode;
  readonly error: Error;
}

interface Tablet {
  readonly name: string;
  readonly engine: EnginePort;
  readonly ref: ActorRef<TabletMessage>;
  readonly fence: WriterFence;
  inFlight: number;
}

interface Opened {
  readonly table: string;
  readonly bucket: number;
  readonly engine: EnginePort;
  readonly sample: EngineSample;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** The smallest that the engine takes: the lock's store holds nothing. */
const LOCK_OPTIONS = { writeBufferSize: 65_536 };

/**
 * A key-value store of tables and buckets: a tablet actor per bucket on this thread, the engines and the log on threads
 * of their own. Opened by `openKvStore`.
 */
export class KvStore {
  readonly #options: ResolvedKvOptions;
  readonly #system: ActorSystem;
  readonly #threads: readonly EngineThread[];
  readonly #lock: EnginePort;
  readonly #log: LogThread;
  readonly #tables = new Map<string, readonly Tablet[]>();
  readonly #meters = new Map<string, TableMeters>();
  #isCheckpointing = false;
  #closing: Promise<void> | undefined;

  private constructor(
    options: ResolvedKvOptions,
    threads: readonly EngineThread[],
    lock: EnginePort,
    log: LogThread,
  ) {
    this.#options = options;
    this.#threads = threads;
    this.#lock = lock;
    this.#log = log;
    this.#system = createActorSystem({
      clock: () => performance.now(),
      schedule: (run) => void setImmediate(run),
      timerDriver: createTimerDriver(),
    });
  }

  /** See `openKvStore`. */
  static async open(given: KvStoreOptions, factory: EngineFactory): Promise<KvStore> {
    const options = resolveKvOptions(given, factory);
    const { dir, engineThreads, engineOptions } = options;
    mergedTables(dir, options.tables);
    const threads = Array.from({ length: engineThreads }, () => new EngineThread(factory));
    try {
      const thread = (i: number): EngineThread => threads[i % threads.length] as EngineThread;
      const lock = await thread(0).open({ dir: lockDir(dir), ...LOCK_OPTIONS });
      // Read once more, now that nobody else can change it.
      const tables = mergedTables(dir, options.tables);
      writeMarker(dir, tables);
      const places = Object.entries(tables).flatMap(([table, buckets]) =>
        Array.from({ length: buckets }, (_, bucket) => ({ table, bucket })),
      );
      const opened = await Promise.all(
        places.map(async ({ table, bucket }, i): Promise<Opened> => {
          const place = { ...engineOptions, dir: tabletDir(dir, table, bucket) };
          return { table, bucket, ...(await thread(i).open(place)) };
        }),
      );
      return await KvStore.#start(options, threads, lock.engine, tables, opened);
    } catch (error) {
      await Promise.all(threads.map((thread) => thread.close()));
      throw error;
    }
  }

  static async #start(
    options: ResolvedKvOptions,
    threads: readonly EngineThread[],
    lock: EnginePort,
    tables: KvTables,
    opened: readonly Opened[],
  ): Promise<KvStore> {
    let store: KvStore | undefined;
    const { log, found, cuts } = await LogThread.open({
      dir: logDir(options.dir),
      segmentBytes: options.logSegmentBytes,
      checkpointBytes: options.logCheckpointBytes,
      flushed: opened.map(({ table, bucket, engine }) => [
        tabletName(table, bucket),
        engine.flushedUpTo,
      ]),
      onLong: (holders) => {
        if (store !== undefined) void store.#checkpoint(holders);
      },
    });
    store = new KvStore(options, threads, lock, log);
    for (const cut of cuts) options.onEvent({ kind: 'log-cut', cut });
    const names = new Set(opened.map(({ table, bucket }) => tabletName(table, bucket)));
    for (const name of found.keys()) {
      if (names.has(name)) continue;
      await log.close();
      throw new DirectoryVersionError(`the log has records of ${name}, which is in no table`);
    }
    store.#spawn(tables, opened, (name) => {
      const batches = found.get(name) ?? [];
      found.delete(name);
      return batches;
    });
    return store;
  }

  /** Tables and their numbers of buckets. */
  tables(): KvTables {
    return Object.fromEntries([...this.#tables].map(([table, tablets]) => [table, tablets.length]));
  }

  /** Never rejects: what was not taken says why by its code. */
  async put(
    table: string,
    bucket: number,
    records: readonly KvRecord[],
    options: KvPutOptions = {},
  ): Promise<PutReply> {
    const tablet = this.#find(table, bucket);
    if ('code' in tablet) return { ...tablet, pressure: 0 };
    const refusal = refusePut(records, this.#options.limits);
    if (refusal !== undefined) return { ...refusal, pressure: 0 };
    const { completion = 'log', timeoutMs, writer, attempt = 0 } = options;
    const wrong =
      refuseCompletion(completion) ??
      refuseTimeout(timeoutMs) ??
      (writer === undefined ? undefined : refuseAttempt(writer, attempt));
    if (wrong !== undefined) return { code: KV_CODES.INVALID_RECORD, message: wrong, pressure: 0 };
    if (writer !== undefined && !tablet.fence.admit(writer, attempt, performance.now())) {
      const message = `attempt ${attempt} comes after a later one of its writer`;
      return { code: KV_CODES.SUPERSEDED, message, pressure: 0 };
    }
    try {
      return await this.#ask<PutReply>(
        tablet,
        (replyTo) => ({ kind: 'put', records, completion, replyTo }),
        timeoutMs,
      );
    } catch (error) {
      const { code, error: reason } = refusalOf(error);
      return { code, message: reason.message, pressure: 0 };
    }
  }

  async get(
    table: string,
    bucket: number,
    keys: readonly Uint8Array[],
    timeoutMs?: number,
  ): Promise<Extract<GetReply, { ok: true }> | KvRefusal> {
    const tablet = this.#find(table, bucket);
    if ('code' in tablet) return refused(tablet.code, tablet.message);
    const wrong = refuseTimeout(timeoutMs);
    if (wrong !== undefined) return refused(KV_CODES.INVALID_RECORD, wrong);
    for (const key of keys) {
      const reason = refuseKey(key, this.#options.limits.maxKeyBytes);
      if (reason !== undefined) return refused(KV_CODES.INVALID_RECORD, reason);
    }
    return this.#read<GetReply>(tablet, (replyTo) => ({ kind: 'get', keys, replyTo }), timeoutMs);
  }

  async scan(
    table: string,
    bucket: number,
    range: KeyRange,
    timeoutMs?: number,
  ): Promise<Extract<ScanReply, { ok: true }> | KvRefusal> {
    const tablet = this.#find(table, bucket);
    if ('code' in tablet) return refused(tablet.code, tablet.message);
    const wrong = refuseTimeout(timeoutMs);
    if (wrong !== undefined) return refused(KV_CODES.INVALID_RECORD, wrong);
    if (!Number.isInteger(range.limit) || range.limit < 1) {
      const message = `limit must be an integer >= 1, got ${String(range.limit)}`;
      return refused(KV_CODES.INVALID_RECORD, message);
    }
    return this.#read<ScanReply>(
      tablet,
      (replyTo) => ({ kind: 'scan', range, replyTo }),
      timeoutMs,
    );
  }

  /** How a tablet stands; undefined: there is none. */
  async status(table: string, bucket: number): Promise<TabletStatus | undefined> {
    const tablet = this.#find(table, bucket);
    if ('code' in tablet) return undefined;
    return this.#ask<TabletStatus>(tablet, (replyTo) => ({ kind: 'status', replyTo }), undefined);
  }

  stats(): KvStoreStats {
    const tables = [...this.#meters.values()].map((meters) => meters.stats());
    return { tables, logBytes: this.#log.bytes };
  }

  /** How long writers have been held up in the engines of each table since they were opened, ms. */
  async stalledMs(): Promise<Readonly<Record<string, number>>> {
    const sums = [...this.#tables].map(async ([table, tablets]) => {
      const each = await Promise.all(tablets.map(({ engine }) => engine.stalledMs()));
      return [table, each.reduce((sum, ms) => sum + ms, 0)] as const;
    });
    return Object.fromEntries(await Promise.all(sums));
  }

  /**
   * Takes nothing more, waits for what is under way, and closes engines, log and threads. What waits for a flush is
   * answered that the store closes: it is in the log. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const tablets = [...this.#tables.values()].flat();
    const timeoutMs = DEFAULT_TIMEOUT_MS;
    const closed = (replyTo: ActorRef<'closed'>): TabletMessage => ({ kind: 'close', replyTo });
    await Promise.allSettled(
      tablets.map(({ ref }) => this.#system.ask(ref, closed, { timeoutMs })),
    );
    await this.#system.stop();
    const results = await Promise.allSettled([
      this.#log.close(),
      ...tablets.map(({ engine }) => engine.close()),
    ]);
    // The lock last: until here the directory is ours.
    await this.#lock.close().catch(() => {});
    await Promise.all(this.#threads.map((thread) => thread.close()));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  #spawn(
    tables: KvTables,
    opened: readonly Opened[],
    takeRecovered: (name: string) => readonly LogBatch[],
  ): void {
    const { flushThreads, tablet: config, onEvent } = this.#options;
    const scheduler = this.#system.spawn(createFlushScheduler(flushThreads), { name: 'flushes' });
    this.#warnOfRamp(opened);
    for (const table of Object.keys(tables)) {
      const meters = new TableMeters(table);
      this.#meters.set(table, meters);
      const mine = opened.filter((one) => one.table === table);
      const tablets = mine.map(({ bucket, engine, sample }): Tablet => {
        const name = tabletName(table, bucket);
        const behavior = createTabletBehavior({
          tablet: name,
          engine,
          log: this.#log,
          scheduler,
          config,
          meters: meters.tablet(bucket),
          takeRecovered: () => takeRecovered(name),
          sample,
          onFailed: (error) => onEvent({ kind: 'tablet-failed', table, bucket, error }),
        });
        // A new incarnation would not know what is under way: it is only the restart of the process that replays.
        const ref = this.#system.spawn(behavior, {
          name: `${table}-${bucket}`,
          supervision: { onFailure: 'stop' },
        });
        return { name, engine, ref, fence: new WriterFence(), inFlight: 0 };
      });
      this.#tables.set(table, tablets);
    }
    this.#system.failures.subscribe(({ path, error }) => {
      for (const [table, tablets] of this.#tables) {
        const bucket = tablets.findIndex(({ ref }) => ref.path === path);
        if (bucket >= 0) onEvent({ kind: 'tablet-failed', table, bucket, error });
      }
    });
  }

  #warnOfRamp(opened: readonly Opened[]): void {
    const { l0SlowdownTrigger } = this.#options.tablet;
    const triggers = opened[0]?.engine.triggers;
    const trigger = triggers === undefined ? undefined : engineTrigger(triggers);
    if (trigger === undefined || l0SlowdownTrigger < trigger) return;
    this.#options.onEvent({
      kind: 'no-proactive-tier',
      l0SlowdownTrigger,
      engineTrigger: trigger,
    });
  }

  /** One tablet after the other: each checkpoint holds a thread of the pool that the engines' other calls need, too. */
  async #checkpoint(holders: readonly string[]): Promise<void> {
    if (this.#isCheckpointing || this.#closing !== undefined) return;
    this.#isCheckpointing = true;
    const names = new Set(holders);
    const timeoutMs = DEFAULT_TIMEOUT_MS;
    try {
      for (const { name, ref } of [...this.#tables.values()].flat()) {
        if (!names.has(name)) continue;
        const request = (replyTo: ActorRef<'done'>): TabletMessage => ({
          kind: 'checkpoint',
          replyTo,
        });
        await this.#system.ask(ref, request, { timeoutMs });
      }
    } catch {
      // The tablet has ended, or is slow: the next segment of the log asks again.
    } finally {
      this.#isCheckpointing = false;
    }
  }

  #find(
    table: string,
    bucket: number,
  ): Tablet | { readonly code: KvErrorCode; readonly message: string } {
    if (this.#closing !== undefined) {
      return { code: KV_CODES.CLOSING, message: 'the server is closing' };
    }
    const tablets = this.#tables.get(table);
    if (tablets === undefined) {
      return { code: KV_CODES.UNKNOWN_TABLE, message: `there is no table ${table}` };
    }
    const tablet = tablets[bucket];
    if (tablet !== undefined) return tablet;
    const message = `table ${table} has buckets 0 to ${tablets.length - 1}, not ${bucket}`;
    return { code: KV_CODES.UNKNOWN_BUCKET, message };
  }

  async #read<Reply extends GetReply | ScanReply>(
    tablet: Tablet,
    request: (replyTo: ActorRef<Reply>) => TabletMessage,
    timeoutMs: number | undefined,
  ): Promise<Extract<Reply, { ok: true }> | KvRefusal> {
    try {
      const reply = await this.#ask(tablet, request, timeoutMs);
      if (reply.ok) return reply as Extract<Reply, { ok: true }>;
      return { ok: false, code: KV_CODES.TABLET_FAILED, error: reply.error };
    } catch (error) {
      return refusalOf(error);
    }
  }

  async #ask<Reply>(
    tablet: Tablet,
    request: (replyTo: ActorRef<Reply>) => TabletMessage,
    timeoutMs: number = DEFAULT_TIMEOUT_MS,
  ): Promise<Reply> {
    // Bounds the mailbox, whose answers from ports must never be refused.
    if (tablet.inFlight >= this.#options.maxInFlight) throw new TooManyCalls(tablet.name);
    tablet.inFlight += 1;
    try {
      return await this.#system.ask(tablet.ref, request, { timeoutMs });
    } finally {
      tablet.inFlight -= 1;
    }
  }
}

class TooManyCalls extends Error {
  constructor(tablet: string) {
    super(`too many calls of ${tablet} are under way`);
  }
}

function refused(code: KvErrorCode, message: string): KvRefusal {
  return { ok: false, code, error: new Error(message) };
}

function refusalOf(error: unknown): KvRefusal {
  const reason = error instanceof Error ? error : new Error(String(error));
  if (error instanceof TooManyCalls) {
    return { ok: false, code: KV_CODES.STORAGE_BACKPRESSURE, error: reason };
  }
  const code = error instanceof AskTimeoutError ? KV_CODES.TIMEOUT : KV_CODES.TABLET_FAILED;
  return { ok: false, code, error: reason };
}
