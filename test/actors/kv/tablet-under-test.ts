import type { ActorRef } from '../../../src/actors/core/actor-ref.js';
import { createFlushScheduler } from '../../../src/actors/kv/flush-scheduler.js';
import type { KvRecord } from '../../../src/actors/kv/kv-record.js';
import { createTabletBehavior } from '../../../src/actors/kv/tablet-actor.js';
import { resolveTabletConfig, type TabletConfig } from '../../../src/actors/kv/tablet-config.js';
import type {
  Completion,
  GetReply,
  PutReply,
  ScanReply,
  TabletMessage,
  TabletStatus,
} from '../../../src/actors/kv/tablet-message.js';
import type { TabletMeters } from '../../../src/actors/kv/tablet-meters.js';
import type { LevelZeroTriggers } from '../../../src/shared/pressure/level-zero-triggers.js';
import { FakeEngine } from '../../../src/testing/fake-engine.js';
import { FakeLog } from '../../../src/testing/fake-log.js';
import { createTestSystem, type TestSystem } from '../../../src/testing/test-system.js';
import { VirtualTime } from '../../../src/testing/virtual-time.js';

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array | null | undefined): string | null =>
  value == null ? null : new TextDecoder().decode(value);

export const put = (key: string, value: string | null): KvRecord => ({
  key: bytes(key),
  value: value === null ? null : bytes(value),
});

export interface Counts {
  accepted: number;
  rejected: number;
  flushed: number;
  retried: number;
}

type RunningTablet = TestSystem & { readonly tablet: ActorRef<TabletMessage> };

const LONG_MS = 3_600_000;

/** A tablet on a fake store and a fake log; `crash` and `start` are the end and the begin of its process. */
export class TabletUnderTest {
  readonly time = new VirtualTime();
  readonly engine: FakeEngine;
  readonly log: FakeLog;
  readonly counts: Counts = { accepted: 0, rejected: 0, flushed: 0, retried: 0 };
  readonly failures: unknown[] = [];
  readonly #config: TabletConfig;
  #running: RunningTablet | undefined;

  constructor(
    config: Partial<TabletConfig> = {},
    { triggers = {}, callMs = 2 }: { triggers?: Partial<LevelZeroTriggers>; callMs?: number } = {},
  ) {
    this.#config = resolveTabletConfig(config);
    this.engine = new FakeEngine({ time: this.time, triggers, callMs });
    this.log = new FakeLog({ time: this.time });
    this.start();
  }

  start(): void {
    const test = createTestSystem({ time: this.time });
    const scheduler = test.system.spawn(createFlushScheduler(2), { name: 'flushes' });
    const meters: TabletMeters = {
      accepted: (records) => {
        this.counts.accepted += records;
      },
      rejected: () => {
        this.counts.rejected += 1;
      },
      flushed: (records) => {
        this.counts.flushed += records;
      },
      retried: () => {
        this.counts.retried += 1;
      },
      state: () => {},
    };
    const tablet = test.system.spawn(
      createTabletBehavior({
        tablet: 't/0',
        engine: this.engine.open(),
        log: this.log.open(),
        scheduler,
        config: this.#config,
        meters,
        takeRecovered: () => this.log.recover('t/0'),
        sample: this.engine.sample,
        onFailed: (error) => this.failures.push(error),
      }),
      { name: 'tablet', supervision: { onFailure: 'stop' } },
    );
    this.#running = { ...test, tablet };
  }

  crash(): void {
    this.engine.crash();
    this.log.crash();
    this.#running = undefined;
  }

  get tablet(): ActorRef<TabletMessage> {
    return this.#now().tablet;
  }

  get system(): TestSystem['system'] {
    return this.#now().system;
  }

  put(records: readonly KvRecord[], completion: Completion = 'log'): Promise<PutReply> {
    return this.#ask((replyTo: ActorRef<PutReply>) => ({
      kind: 'put',
      records,
      completion,
      replyTo,
    }));
  }

  async get(...keys: string[]): Promise<(string | null)[]> {
    const reply = await this.settled(
      this.#ask((replyTo: ActorRef<GetReply>) => ({
        kind: 'get',
        keys: keys.map(bytes),
        replyTo,
      })),
    );
    if (!reply.ok) throw reply.error;
    return reply.result.map(text);
  }

  async scan(limit: number, start = '', end?: string): Promise<{ keys: string[]; more: boolean }> {
    const reply = await this.settled(
      this.#ask((replyTo: ActorRef<ScanReply>) => ({
        kind: 'scan',
        range: {
          start: bytes(start),
          limit,
          ...(end === undefined ? {} : { end: bytes(end) }),
        },
        replyTo,
      })),
    );
    if (!reply.ok) throw reply.error;
    const { rows, hasMore } = reply.result;
    return { keys: rows.map(({ key, value }) => `${text(key)}=${text(value)}`), more: hasMore };
  }

  status(): Promise<TabletStatus> {
    return this.settled(
      this.#ask((replyTo: ActorRef<TabletStatus>) => ({ kind: 'status', replyTo })),
    );
  }

  /** Lets time pass until the promise has settled, a minute at most. */
  async settled<Value>(promise: Promise<Value>): Promise<Value> {
    let isDone = false;
    promise.then(
      () => {
        isDone = true;
      },
      () => {
        isDone = true;
      },
    );
    for (let i = 0; i < 60_000 && !isDone; i += 1) await this.pass(1);
    return promise;
  }

  pass(ms: number): Promise<void> {
    return this.time.advanceToAsync(this.time.nowMs + ms);
  }

  #ask<Reply>(request: (replyTo: ActorRef<Reply>) => TabletMessage): Promise<Reply> {
    return this.system.ask(this.tablet, request, { timeoutMs: LONG_MS });
  }

  #now(): RunningTablet {
    if (this.#running === undefined) throw new Error('the process is dead');
    return this.#running;
  }
}
