import { beforeEach, describe, expect, it } from 'vitest';
import { type Arena, createArena } from '../../src/shared/arena.js';
import { Doorbell } from '../../src/shared/doorbell.js';
import { STATS } from '../../src/shared/kernel/port.js';
import { KeyDirectory } from '../../src/shared/key-directory.js';
import { CIRCUIT_STATS, HEADER, RING_RECORDS } from '../../src/shared/layout.js';
import { RingProducer } from '../../src/shared/message-ring.js';
import { publishRpcNames } from '../../src/shared/rpc-names.js';
import { RECORD } from '../../src/workers/report-ring.js';
import { RpcTable } from '../../src/workers/rpc-table.js';
import { LineBudget } from '../../src/workers/state/line-budget.js';
import { Standstill, TroubleWatch } from '../../src/workers/trouble-watch.js';

describe('a total that should stand still', () => {
  it('is told when it moves, then once a minute with all that came in between', () => {
    const total = new Standstill(5);
    expect(total.look(5, 0)).toBe(0);
    expect(total.look(7, 1000)).toBe(2);
    expect(total.look(9, 2000)).toBe(0);
    expect(total.look(10, 60_999)).toBe(0);
    expect(total.look(11, 61_000)).toBe(4);
    expect(total.look(11, 200_000)).toBe(0);
    expect(total.look(12, 200_001)).toBe(1);
  });

  it('is told nothing of what never moved, or moved back', () => {
    const total = new Standstill(5);
    expect(total.look(4, 1e9)).toBe(0);
    expect(total.look(Number.NaN, 2e9)).toBe(0);
  });
});

describe('the watch for trouble', () => {
  let arena: Arena;
  let directory: KeyDirectory;
  beforeEach(() => {
    ({ arena } = createArena({ threads: 3, rpcs: 4, pairs: 2 }, true));
    publishRpcNames(arena, ['read', 'write']);
    directory = new KeyDirectory(arena.buffer, arena.layout.directory, 2);
  });

  const watch = (): TroubleWatch =>
    new TroubleWatch({ arena, rpcs: new RpcTable(arena), directory });

  function count(offset: number, n: number): void {
    arena.f64[offset >>> 3] = (arena.f64[offset >>> 3] as number) + n;
  }
  const refuse = (thread: number, rpc: number, stage: 'host' | 'table', n: number): void =>
    count(arena.layout.thread(thread).stats(rpc, stage) + STATS.REFUSED, n);

  it('says nothing while nothing is wrong', () => {
    const quiet = watch();
    expect(quiet.look(0)).toEqual([]);
    directory.findOrInsert(0, 'a');
    expect(quiet.look(1000)).toEqual([]);
  });

  it('tells of a full directory, of addresses without room, and of rings that drop', () => {
    const started = watch();
    for (let i = 0; i < 7; i += 1) directory.findOrInsert(0, `table ${i}`);
    const { used, overflow } = directory.use();
    count(arena.layout.thread(1).circuits + CIRCUIT_STATS.UNTRACKED, 3);
    count(arena.layout.thread(2).circuits + CIRCUIT_STATS.UNTRACKED, 4);
    const bell = new Doorbell(arena.buffer, HEADER.CONTROL_ASLEEP);
    const ring = new RingProducer(arena.buffer, arena.layout.thread(0).ring, RING_RECORDS, bell);
    for (let i = 0; i < RING_RECORDS; i += 1) ring.push(RECORD.BUSY, 0, 0, 0, 0);
    for (let i = 0; i < 5; i += 1) ring.push(RECORD.BUSY, 0, 0, 0, 0);
    for (let i = 0; i < 2; i += 1) ring.push(RECORD.CIRCUIT_OPENED, 0, 0, 0, 0);
    expect(overflow).toBeGreaterThan(0);
    expect(started.look(1000)).toEqual([
      { name: 'directory-full', event: { used, capacity: 2, calls: overflow } },
      { name: 'addresses-full', event: { failures: 7 } },
      { name: 'ring-drops', event: { records: 7, busy: 5, other: 2 } },
    ]);
    expect(started.look(2000)).toEqual([]);
  });

  it('tells for each RPC type and stage how many calls were refused, over all threads', () => {
    const started = watch();
    refuse(0, 0, 'host', 2);
    refuse(2, 0, 'host', 3);
    refuse(1, 1, 'table', 4);
    expect(started.look(1000)).toEqual([
      { name: 'calls-refused', event: { rpc: 'read', stage: 'host', refused: 5 } },
      { name: 'calls-refused', event: { rpc: 'write', stage: 'table', refused: 4 } },
    ]);
    refuse(0, 0, 'host', 1);
    refuse(0, 0, 'table', 1);
    // The log has one line a second for an RPC type: the other stage comes when there is room.
    expect(started.look(2000)).toEqual([]);
    refuse(1, 0, 'table', 1);
    expect(started.look(3000)).toEqual([
      { name: 'calls-refused', event: { rpc: 'read', stage: 'table', refused: 2 } },
    ]);
    expect(started.look(61_000)).toEqual([
      { name: 'calls-refused', event: { rpc: 'read', stage: 'host', refused: 1 } },
    ]);
  });

  it('tells of both stages of an RPC type so far apart that the log takes both, again and again', () => {
    const started = watch();
    const budget = new LineBudget();
    const lines = { host: 0, table: 0 };
    for (let nowMs = 0; nowMs <= 180_000; nowMs += 999) {
      refuse(0, 0, 'host', 1);
      refuse(0, 0, 'table', 1);
      for (const { name, event } of started.look(nowMs)) {
        if (name !== 'calls-refused') throw new Error(name);
        expect(budget.take(event.rpc, 'warn', nowMs)).toBe(0);
        lines[event.stage] += 1;
      }
    }
    expect(lines).toEqual({ host: 3, table: 3 });
  });

  it('begins with what it finds, and tells all of an RPC type that is configured later', () => {
    refuse(0, 0, 'host', 100);
    const successor = watch();
    expect(successor.look(0)).toEqual([]);
    publishRpcNames(arena, ['read', 'write', 'scan']);
    refuse(0, 2, 'host', 2);
    expect(successor.look(1000)).toEqual([
      { name: 'calls-refused', event: { rpc: 'scan', stage: 'host', refused: 2 } },
    ]);
  });
});
