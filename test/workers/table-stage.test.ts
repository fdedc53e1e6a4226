import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Arena } from '../../src/shared/arena.js';
import { DirectoryKeeper } from '../../src/shared/directory-keeper.js';
import {
  RateLimitExceededError,
  RuntimeClosedError,
  UnknownRpcError,
} from '../../src/shared/errors.js';
import { STATS } from '../../src/shared/kernel/port.js';
import { KeyDirectory } from '../../src/shared/key-directory.js';
import { QuiescenceWords } from '../../src/shared/quiescence.js';
import { intervalNs } from '../../src/shared/quota.js';
import { readSettings, type Settings, writeSettings } from '../../src/shared/settings.js';
import type { TableKey } from '../../src/shared/table-key.js';
import { applyConfig } from '../../src/workers/apply-config.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';
import type { Hold } from '../../src/workers/hold.js';
import { RpcTable } from '../../src/workers/rpc-table.js';
import { TableStage } from '../../src/workers/table-stage.js';
import { bothKernels } from '../shared/both-kernels.js';
import { VirtualClock, virtualThread, type Watched, watched } from './virtual-thread.js';

const PAIRS = 32;

describe.each(bothKernels({ threads: 4, rpcs: 4, pairs: PAIRS }))(
  'table stage on the $kind kernel',
  ({ fresh }) => {
    let arena: Arena;
    let clock: VirtualClock;
    let stage: TableStage;
    let pairs: KeyDirectory;
    let rpcs: RpcTable;

    beforeEach(() => {
      arena = fresh();
      clock = new VirtualClock();
      const config = resolveConfig(
        {
          host: { rpcs: { write: {}, read: {} } },
          tables: { enabled: true, rpcs: ['write'] },
          waiting: { maxWaiters: 3 },
        },
        1,
      );
      applyConfig(arena, { config, version: 1 }, 1, 0);
      rpcs = new RpcTable(arena);
      pairs = new KeyDirectory(arena.buffer, arena.layout.directory, PAIRS);
      stage = stageOf(0);
    });

    const stageOf = (place: number): TableStage =>
      new TableStage(virtualThread(arena, clock, place), new RpcTable(arena), pairs);
    const change = (to: Partial<Settings>): void => {
      writeSettings(arena, { ...readSettings(arena), ...to });
      stage.refresh();
    };
    const cellOf = (table: string, rpc = 'write'): number =>
      pairs.find(rpcs.find(rpc)?.id ?? -1, table);
    const limit = (table: string, qps: number, reset = 0): void =>
      arena.kernel.strictConfigure(
        pairs.findOrInsert(0, table),
        clock.nowNs(),
        qps === 0 ? 0 : intervalNs(qps),
        qps,
        reset,
      );
    const counted = (table: string): bigint => arena.u64[cellOf(table) >>> 3] as bigint;
    const enter = (
      table: TableKey | undefined,
      {
        rpc = 'write',
        maxWaitMs = 10_000,
        signal,
      }: { rpc?: string; maxWaitMs?: number; signal?: AbortSignal } = {},
    ): Watched<Hold | undefined> =>
      watched(clock, () =>
        stage.enter({ rpc, table, address: undefined, weight: 1, signal }, maxWaitMs),
      );
    const accounts = (place = 0): number[] => {
      const stats = arena.layout.thread(place).stats(0, 'table');
      return [STATS.RESERVED, STATS.SPENT, STATS.RETURNED, STATS.LOST].map(
        (which) => arena.f64[(stats + which) >>> 3] as number,
      );
    };

    describe('counts', () => {
      it('what is asked for, per table and whatever the spelling of the key, and holds nobody without a limit', () => {
        for (const key of [7, 7n, '7', 8]) expect(enter(key).value).toBeUndefined();
        expect([counted('7'), counted('8')]).toEqual([3n, 1n]);
        expect(accounts()).toEqual([0, 0, 0, 0]);
      });

      it('also what it refuses, so that a slowed table does not look calm', () => {
        limit('7', 1);
        for (let i = 0; i < 5; i++) enter(7, { maxWaitMs: 0 });
        expect(counted('7')).toBe(5n);
      });

      it('nothing for a call without a table, or of an RPC type that is not load-related', () => {
        expect(enter(undefined).value).toBeUndefined();
        expect(enter(7, { rpc: 'read' }).value).toBeUndefined();
        expect(cellOf('7', 'read')).toBe(0);
        expect(pairs.use().used).toBe(0);
      });

      it('nothing while it is switched off', () => {
        change({ tables: false });
        limit('7', 1);
        expect([enter(7), enter(7)].every(({ state }) => state === 'resolved')).toBe(true);
        expect(counted('7')).toBe(0n);
      });
    });

    it('throws for an RPC type that nobody has configured', () => {
      expect(enter(7, { rpc: 'other' }).error).toBeInstanceOf(UnknownRpcError);
    });

    it('throws for what is no key', () => {
      for (const key of [1.5, Number.NaN, 2 ** 53, '', {}, null])
        expect(enter(key as TableKey).error).toMatchObject({
          message: expect.stringMatching(/^table must be /),
        });
    });

    it('lets calls through uncounted, and counts that, when the directory is full', () => {
      for (let i = 0; i < PAIRS; i++) enter(i);
      expect(pairs.use()).toMatchObject({ used: PAIRS, overflow: 0 });
      expect([enter(1000), enter(1001)].map(({ state }) => state)).toEqual([
        'resolved',
        'resolved',
      ]);
      expect(pairs.use().overflow).toBe(2);
    });

    describe('a limit', () => {
      beforeEach(() => limit('7', 10));

      it('spaces the calls of its pair, and of no other', async () => {
        const calls = [enter(7), enter(7), enter(7), enter(8), enter(9)];
        await clock.pass(1000);
        expect(calls.map(({ atMs }) => atMs)).toEqual([0, 100, 200, 0, 0]);
        expect(rpcs.waits(0).of('table').snapshot()).toMatchObject({ count: 2, sumNs: 300e6 });
        for (const { value } of calls) value?.spend();
        expect(accounts()).toEqual([3, 3, 0, 0]);
      });

      it('is one limit for all threads', async () => {
        const other = stageOf(1);
        enter(7);
        const there = watched(clock, () =>
          other.enter(
            { rpc: 'write', table: 7, address: undefined, weight: 1, signal: undefined },
            1e4,
          ),
        );
        await clock.pass(200);
        expect(there.atMs).toBe(100);
      });

      it('refuses whose wait would be too long, and whom its queue has no place for', () => {
        enter(7);
        const { error } = enter(7, { maxWaitMs: 99 });
        expect(error).toBeInstanceOf(RateLimitExceededError);
        expect(error).toMatchObject({
          stage: 'table',
          rpc: 'write',
          table: '7',
          retryAfterMs: 100,
        });
        for (let i = 0; i < 3; i++) enter(7);
        expect(enter(7).error).toMatchObject({ stage: 'queue', table: '7' });
      });

      it('gives its slot back when a later stage refuses', async () => {
        const first = enter(7);
        first.value?.cancel();
        expect(accounts()).toEqual([1, 0, 1, 0]);
        expect(enter(7).state).toBe('resolved');
        const late = enter(7);
        const last = enter(7);
        await clock.pass(110);
        late.value?.cancel();
        await clock.pass(200);
        // Somebody had reserved behind it by then, or not: no permit is in two hands, none is forgotten.
        last.value?.spend();
        const [reserved, spent, returned, lost] = accounts() as [number, number, number, number];
        expect(reserved - returned - lost - spent).toBe(1);
      });

      it('lets who waits leave by its signal, and keeps no listener', async () => {
        const controller = new AbortController();
        enter(7);
        const calls = [1, 2].map(() => enter(7, { signal: controller.signal }));
        const behind = enter(7);
        controller.abort('gone');
        await clock.pass(150);
        expect(calls.map(({ error }) => error)).toEqual(['gone', 'gone']);
        expect(behind.atMs).toBe(100);
        expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      });

      it.each([
        ['is removed', () => limit('7', 0)],
        ['is only rehearsed', () => change({ tablesDryRun: true })],
        ['is switched off', () => change({ tables: false })],
      ])('lets all go at once when it %s', async (_, act) => {
        const calls = [1, 2, 3, 4].map(() => enter(7));
        act();
        stage.refresh();
        await clock.pass(0);
        expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
        for (const { value } of calls) value?.spend();
        expect(clock.armed).toBe(0);
        const [reserved, spent, returned, lost] = accounts() as [number, number, number, number];
        expect(reserved).toBe(spent + returned + lost);
      });

      it('re-plans who waits after a reset', async () => {
        limit('7', 1);
        const calls = [1, 2, 3].map(() => enter(7));
        await clock.pass(500);
        limit('7', 100, 1);
        stage.refresh();
        await clock.pass(100);
        expect(calls.map(({ atMs }) => atMs)).toEqual([0, 500, 510]);
      });

      it('rejects all who wait at the end', async () => {
        const calls = [1, 2, 3].map(() => enter(7));
        const reason = new RuntimeClosedError();
        stage.close(reason);
        await clock.pass(0);
        expect(calls.map(({ state }) => state)).toEqual(['resolved', 'rejected', 'rejected']);
        expect(clock.armed).toBe(0);
        const before = accounts();
        const late = enter(7);
        await clock.pass(0);
        expect(late.error).toBe(reason);
        expect(accounts()).toEqual(before);
      });

      it('lets its waiters go when their RPC type is no longer load-related', async () => {
        const calls = [1, 2, 3].map(() => enter(7));
        const config = resolveConfig(
          { host: { rpcs: { write: {}, read: {} } }, tables: { enabled: true, rpcs: [] } },
          1,
        );
        applyConfig(arena, { config, version: 2 }, 1, clock.nowNs());
        stage.refresh();
        await clock.pass(0);
        expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
      });

      it('lets its waiters go when the pair is removed under them, and goes on with the new one', async () => {
        const calls = [1, 2, 3].map(() => enter(7));
        limit('7', 0);
        const quiescence = new QuiescenceWords(arena.buffer, arena.layout.quiescence, 4);
        const keeper = new DirectoryKeeper(arena.buffer, arena.layout.directory, PAIRS, quiescence);
        const old = cellOf('7');
        expect(keeper.remove(pairs.indexOf(old), () => false)).toBe(true);
        stage.forgetDead();
        await clock.pass(0);
        expect(calls.every(({ state }) => state === 'resolved')).toBe(true);
        limit('7', 10);
        expect(cellOf('7')).not.toBe(old);
        const again = [enter(7), enter(7)];
        await clock.pass(1000);
        expect(again.map(({ state }) => state)).toEqual(['resolved', 'resolved']);
        expect((again[1]?.atMs ?? 0) - (again[0]?.atMs ?? 0)).toBe(100);
      });
    });

    describe('a dry run', () => {
      beforeEach(() => {
        change({ tables: false, tablesDryRun: true });
        limit('7', 10);
      });

      it('counts, records the waits that it would have asked for, and lets the call go', () => {
        for (let i = 0; i < 4; i++)
          expect(enter(7)).toMatchObject({ state: 'resolved', value: undefined });
        expect(counted('7')).toBe(4n);
        expect(rpcs.waits(0).of('dryRun').snapshot()).toMatchObject({ count: 3, sumNs: 600e6 });
        expect(accounts()).toEqual([0, 0, 0, 0]);
      });

      it('would have refused, and so plans nothing for, what waits too long', () => {
        enter(7);
        for (let i = 0; i < 3; i++) enter(7, { maxWaitMs: 50 });
        expect(rpcs.waits(0).of('dryRun').snapshot()).toMatchObject({ count: 3, sumNs: 300e6 });
      });
    });
  },
);
