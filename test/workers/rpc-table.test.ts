import { beforeEach, describe, expect, it } from 'vitest';
import { type Arena, createArena } from '../../src/shared/arena.js';
import { MARK } from '../../src/shared/layout.js';
import { markRpc, publishRpcNames } from '../../src/shared/rpc-names.js';
import { RpcTable } from '../../src/workers/rpc-table.js';

describe('RPC table', () => {
  let arena: Arena;
  let table: RpcTable;
  beforeEach(() => {
    ({ arena } = createArena({ threads: 1, rpcs: 4, pairs: 1 }, true));
    publishRpcNames(arena, ['read', 'write']);
    table = new RpcTable(arena);
  });

  it('finds RPC types by name, and also those that were published later', () => {
    expect([table.find('write')?.id, table.find('late')]).toEqual([1, undefined]);
    publishRpcNames(arena, ['read', 'write', 'late']);
    expect(table.find('late')?.id).toBe(2);
    expect(table.find('write')).toBe(table.all()[1]);
    expect(table.all().map(({ name }) => name)).toEqual(['read', 'write', 'late']);
  });

  it('takes no name of an object’s own for an RPC type', () => {
    for (const name of ['constructor', '__proto__', 'toString', ''])
      expect(table.find(name)).toBeUndefined();
  });

  it('says of each whether its tables are slowed, as the marks stand now', () => {
    const [read] = table.all();
    expect(read?.loadRelated()).toBe(false);
    markRpc(new Uint8Array(arena.buffer), arena.layout.name(0), MARK.LOAD_RELATED | MARK.COARSE);
    expect(read?.loadRelated()).toBe(true);
  });

  it('shares the wait histograms of an RPC type with every thread', () => {
    table.waits(1).record('host', 5e6);
    table.waits(1).record('table', 3e6);
    const other = new RpcTable(arena).waits(1);
    expect(other.of('host').snapshot()).toMatchObject({ count: 1, sumNs: 5e6 });
    expect(other.of('table').snapshot()).toMatchObject({ count: 1, sumNs: 3e6 });
    expect(other.of('dryRun').snapshot().count).toBe(0);
    expect(table.waits(0).of('host').snapshot().count).toBe(0);
  });

  it('records only who was held, and a wait without end as a day', () => {
    const waits = table.waits(0);
    for (const ns of [0, -1, Number.NaN]) waits.record('dryRun', ns);
    waits.record('dryRun', Number.POSITIVE_INFINITY);
    expect(waits.of('dryRun').snapshot()).toMatchObject({ count: 1, sumNs: 86_400e9 });
  });
});
