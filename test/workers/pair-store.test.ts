import { beforeEach, describe, expect, it } from 'vitest';
import type { LimitAction } from '../../src/actors/throttle/limit-action.js';
import type { Arena } from '../../src/shared/arena.js';
import { CELL_FIELD } from '../../src/shared/directory/cell.js';
import { DirectoryKeeper } from '../../src/shared/directory-keeper.js';
import { KeyDirectory } from '../../src/shared/key-directory.js';
import { cellWords } from '../../src/shared/limiter-words.js';
import { QuiescenceWords } from '../../src/shared/quiescence.js';
import { publishRpcNames } from '../../src/shared/rpc-names.js';
import { PairStore } from '../../src/workers/pair-store.js';
import { RpcTable } from '../../src/workers/rpc-table.js';
import { bothKernels } from '../shared/both-kernels.js';

const PAIRS = 8192;
const PREFIX = 'warehouse/2024/'.repeat(9);

describe.each(bothKernels({ threads: 1, rpcs: 2, pairs: PAIRS }))(
  'pair store on the $kind kernel',
  ({ fresh }) => {
    let arena: Arena;
    let directory: KeyDirectory;
    let store: PairStore;
    let keeper: DirectoryKeeper;
    let changes: number;
    let drops: number;
    let nowNs: number;

    beforeEach(() => {
      arena = fresh();
      publishRpcNames(arena, ['read', 'write']);
      directory = new KeyDirectory(arena.buffer, arena.layout.directory, PAIRS);
      changes = 0;
      drops = 0;
      nowNs = 5;
      store = create();
    });

    /** Also a successor's: what it knows is in the arena. */
    const create = (): PairStore => {
      const quiescence = new QuiescenceWords(arena.buffer, arena.layout.quiescence, 1);
      keeper = new DirectoryKeeper(arena.buffer, arena.layout.directory, PAIRS, quiescence);
      return new PairStore({
        arena,
        clock: { nowNs: () => nowNs },
        rpcs: new RpcTable(arena),
        directory,
        keeper,
        onChange: () => {
          changes += 1;
        },
        onDrop: () => {
          drops += 1;
        },
      });
    };
    /** A call of a pair, as a client thread counts it. @returns the cell's index. */
    const count = (rpcId: number, table: string): number => {
      const offset = directory.findOrInsert(rpcId, table);
      arena.kernel.enter(offset);
      return directory.indexOf(offset);
    };
    const qpsOf = (cell: number): number => cellWords(arena, directory.cellAt(cell)).qps();
    const set = (rpc: string, table: string, qpsLimit: number): LimitAction => ({
      type: 'set_limit',
      rpc,
      table,
      qpsLimit,
      resetReservation: false,
    });
    const remove = (rpc: string, table: string): LimitAction => ({
      type: 'remove_limit',
      rpc,
      table,
    });
    const sorted = (limits: readonly { readonly table: string }[]) =>
      limits.toSorted((a, b) => a.table.localeCompare(b.table));

    it('visits, describes and locates the pairs that calls were counted for', () => {
      const cells = [count(0, '7'), count(1, '7'), count(1, '8')];
      count(1, '8');
      const seen = new Map<number, number>();
      store.visit((cell, _generation, _rpc, calls) => seen.set(cell, calls));
      expect(cells.map((cell) => seen.get(cell))).toEqual([1, 1, 2]);
      expect(cells.map((cell) => store.describe(cell))).toEqual([
        { rpc: 'read', table: '7' },
        { rpc: 'write', table: '7' },
        { rpc: 'write', table: '8' },
      ]);
      expect(store.locate('write', '8')?.cell).toBe(cells[2]);
      expect([store.locate('write', '9'), store.locate('other', '8')]).toEqual([
        undefined,
        undefined,
      ]);
      expect([store.rpcId('write'), store.rpcId('other')]).toEqual([1, undefined]);
    });

    it('sets and removes limits, tells the threads once, and knows what is in force', () => {
      const [a, b] = [count(0, '7'), count(1, '7')] as [number, number];
      store.apply([set('read', '7', 50), set('write', '7', 2.5)]);
      expect([qpsOf(a), qpsOf(b)]).toEqual([50, 2.5]);
      expect(changes).toBe(1);
      expect(sorted(store.inForce())).toEqual([
        { rpc: 'read', table: '7', qpsLimit: 50 },
        { rpc: 'write', table: '7', qpsLimit: 2.5 },
      ]);
      store.apply([remove('read', '7'), remove('read', 'nobody'), set('other', '7', 1)]);
      expect(store.inForce()).toEqual([{ rpc: 'write', table: '7', qpsLimit: 2.5 }]);
      store.apply([]);
      expect(changes).toBe(2);
    });

    it('notes since when a pair is slowed, until its limit is gone', () => {
      const cell = directory.cellAt(count(0, '7'));
      const since = (): number => arena.i32[(cell + CELL_FIELD.LIMITED_SINCE) >>> 2] as number;
      nowNs = 12.34e9;
      store.apply([set('read', '7', 50)]);
      nowNs = 20e9;
      store.apply([set('read', '7', 40)]);
      expect(since()).toBe(123);
      store.apply([remove('read', '7')]);
      store.apply([set('read', '7', 40)]);
      expect(since()).toBe(200);
    });

    it('keeps the queue unless it is told to plan anew', () => {
      const cell = count(0, '7');
      store.apply([set('read', '7', 50)]);
      const plan = () => cellWords(arena, directory.cellAt(cell)).terms(0).plan;
      const words = cellWords(arena, directory.cellAt(cell));
      const planInForce = (): number => words.terms(words.epoch()).plan;
      const first = planInForce();
      store.apply([set('read', '7', 20)]);
      expect(planInForce()).toBe(first);
      store.apply([{ ...set('read', '7', 30), resetReservation: true } as LimitAction]);
      expect(planInForce()).toBe(first + 1);
      expect(plan()).toBe(0);
    });

    it('limits a pair even at a rate below what the words can hold', () => {
      const cell = count(0, '7');
      store.apply([set('read', '7', 1e-12)]);
      expect(arena.kernel.enter(directory.cellAt(cell))).toBe(1);
      store.apply([set('read', '7', 1e12)]);
      expect(arena.kernel.enter(directory.cellAt(cell))).toBe(1);
    });

    it('drops a pair, unless it has a limit or is another one by now', () => {
      const cell = count(0, '7');
      const generation = directory.generationOf(directory.cellAt(cell));
      store.apply([set('read', '7', 50)]);
      expect(store.drop(cell, generation)).toBe(false);
      store.apply([remove('read', '7')]);
      expect(store.drop(cell, generation + 2)).toBe(false);
      expect(store.drop(cell, generation)).toBe(true);
      expect(store.drop(cell, generation)).toBe(false);
      expect([store.locate('read', '7'), drops]).toEqual([undefined, 1]);
    });

    describe('keys over 128 bytes', () => {
      const keys = ['a', 'b'].map((tail) => `${PREFIX}${tail}`);

      it('limits the right one of two that begin alike, by the text that stands for it', () => {
        const [a, b] = keys.map((key) => count(0, key)) as [number, number];
        const texts = [a, b].map((cell) => store.describe(cell).table) as [string, string];
        expect(new Set(texts).size).toBe(2);
        expect(texts.every((text) => text.length < 150)).toBe(true);
        const { used } = directory.use();
        store.apply([set('read', texts[1], 3)]);
        expect([qpsOf(a), qpsOf(b)]).toEqual([0, 3]);
        expect(store.locate('read', texts[0])?.cell).toBe(a);
        // No pair was made up for the text itself.
        expect(directory.use().used).toBe(used);
        store.apply([remove('read', texts[1])]);
        expect(qpsOf(b)).toBe(0);
      });

      it('keeps RPC types apart', () => {
        const [a, b] = [count(0, keys[0] as string), count(1, keys[0] as string)] as [
          number,
          number,
        ];
        const { table } = store.describe(a);
        store.describe(b);
        store.apply([set('write', table, 4)]);
        expect([qpsOf(a), qpsOf(b)]).toEqual([0, 4]);
      });

      it('are found again by a successor, which reads what is in force', () => {
        const cell = count(0, keys[0] as string);
        store.apply([set('read', store.describe(cell).table, 3)]);
        const successor = create();
        const [limit] = successor.inForce();
        expect(limit?.qpsLimit).toBe(3);
        successor.apply([remove('read', limit?.table as string)]);
        expect(qpsOf(cell)).toBe(0);
      });

      it('are all slowed, and no pair is made up for a text, also when every pair of the directory has one', () => {
        const cells = Array.from({ length: PAIRS }, (_, i) => count(0, `${PREFIX}${i}`));
        const texts = cells.map((cell) => store.describe(cell).table);
        store.apply(texts.map((text) => set('read', text, 2)));
        expect(cells.filter((cell) => qpsOf(cell) !== 2)).toEqual([]);
        expect(directory.use()).toMatchObject({ used: PAIRS, overflow: 0 });
      });

      it('are not held for ever: texts of pairs that are gone make room', () => {
        const limited = count(0, `${PREFIX}limited\u0000`);
        const { table } = store.describe(limited);
        store.apply([set('read', table, 3)]);
        for (let i = 0; i < 3 * PAIRS; i++) {
          const cell = count(0, `${PREFIX}${i}`);
          store.describe(cell);
          expect(store.drop(cell, directory.generationOf(directory.cellAt(cell)))).toBe(true);
          keeper.maintain();
        }
        store.apply([remove('read', table)]);
        expect(qpsOf(limited)).toBe(0);
      });

      it('have their limit removed however many others were described since', () => {
        const cell = count(0, keys[0] as string);
        const { table } = store.describe(cell);
        store.apply([set('read', table, 3)]);
        for (let i = 0; i < 6000; i++) store.describe(count(0, `${PREFIX}${i}`));
        store.apply([remove('read', table)]);
        expect(qpsOf(cell)).toBe(0);
      });

      it('are not confused with a key that was removed and its cell used anew', () => {
        const cell = count(0, keys[0] as string);
        const { table } = store.describe(cell);
        expect(store.drop(cell, directory.generationOf(directory.cellAt(cell)))).toBe(true);
        expect(store.locate('read', table)).toBeUndefined();
      });
    });

    it('begins the plans of all limits anew when nobody has obeyed them', () => {
      const cell = directory.findOrInsert(0, '7');
      store.apply([
        { type: 'set_limit', rpc: 'read', table: '7', qpsLimit: 2, resetReservation: false },
      ]);
      const wait = (): number => arena.kernel.strictReserve(cell, 512, 640, 5, 1e12);
      expect([wait(), wait(), wait()]).toEqual([0, 5e8, 1e9]);
      store.replan();
      expect([wait(), wait()]).toEqual([0, 5e8]);
      expect(store.inForce()).toEqual([{ rpc: 'read', table: '7', qpsLimit: 2 }]);
    });
  },
);
