import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  RateLimitExceededError,
  RuntimeClosedError,
  UnknownRpcError,
} from '../../src/shared/errors.js';
import { KeyDirectory } from '../../src/shared/key-directory.js';
import { intervalNs } from '../../src/shared/quota.js';
import type { Gate } from '../../src/workers/gate.js';
import { createVirtualGates, ended, type VirtualGates } from './virtual-gate.js';

const OPTIONS = {
  host: { rpcs: { read: { qpsPerCore: 10, burst: 5 }, write: { qpsPerCore: 10, burst: 5 } } },
  tables: { enabled: true, rpcs: ['write'] },
};

describe.each([
  ['wasm', false],
  ['twin', true],
] as const)('gate on the %s kernel', (_, twin) => {
  let gates: VirtualGates;
  let gate: Gate;
  beforeEach(() => {
    gates = createVirtualGates(OPTIONS, twin);
    gate = gates.gate();
  });

  const ok = (): string => 'ok';
  /** Puts a limit on a table of `write`. */
  const limitTable = (table: string, qps: number): void => {
    const { layout, buffer, kernel } = gates.arena;
    const pairs = new KeyDirectory(buffer, layout.directory, layout.capacity.pairs);
    const cell = pairs.findOrInsert(1, table);
    kernel.strictConfigure(cell, gates.time.nowMs * 1e6, intervalNs(qps), qps, 0);
  };
  const accounts = () => gates.snapshot().conservation;

  it('knows the configured RPC types only, and names them', async () => {
    const unknown = /^rpc must be one of read, write, got 'other'$/;
    expect(() => gate.tryAcquire('other')).toThrow(unknown);
    expect(() => gate.reserve('other')).toThrow(unknown);
    expect(() => gate.limiter('other')).toThrow(UnknownRpcError);
    await expect(gate.acquire('other')).rejects.toThrow(unknown);
    await expect(gate.call({ rpc: 'other' }, ok)).rejects.toThrow(unknown);
    const none = createVirtualGates({}, true).gate();
    expect(() => none.tryAcquire('read')).toThrow(/^rpc no RPC type is configured, got 'read'$/);
    for (const rpc of [undefined, null, 5, {}, Symbol('s')])
      expect(() => gate.tryAcquire(rpc as string)).toThrow(UnknownRpcError);
  });

  it('knows an RPC type that was configured later', () => {
    expect(() => gate.tryAcquire('late')).toThrow(UnknownRpcError);
    gates.configure({ host: { rpcs: { late: { qpsPerCore: 1 } } } });
    expect(gate.tryAcquire('late')).toBe(true);
  });

  it('shares one bucket with every other thread, and gives the same limiter for the same RPC type', () => {
    const other = gates.gate();
    expect([
      gate.tryAcquire('read', 3),
      other.tryAcquire('read', 3),
      other.tryAcquire('read', 2),
    ]).toEqual([true, false, true]);
    expect(gate.limiter('read')).toBe(gate.limiter('read'));
    expect(gate.tryAcquire('write', 5)).toBe(true);
  });

  it('gives the slot of the table back when the host refuses', async () => {
    limitTable('7', 1);
    gate.tryAcquire('write', 5);
    await expect(gate.call({ rpc: 'write', table: 7, maxWaitMs: 50 }, ok)).rejects.toMatchObject({
      stage: 'host',
    });
    expect(accounts()).toMatchObject({ ok: true, returned: 1, lost: 0, held: 0 });
    // It is there for the next one at once.
    await gates.time.advanceToAsync(200);
    expect(await ended(gates, gate.call({ rpc: 'write', table: 7, maxWaitMs: 0 }, ok))).toBe('ok');
  });

  it('waits at all stages together no longer than it may', async () => {
    limitTable('7', 10);
    await gate.call({ rpc: 'write', table: 7 }, ok);
    gate.reserve('write', 7);
    // 100 ms at the table; then 300 ms would be left at the host.
    const call = gate.call({ rpc: 'write', table: 7, maxWaitMs: 350 }, ok);
    await expect(ended(gates, call)).rejects.toBeInstanceOf(RateLimitExceededError);
    expect(gates.time.nowMs).toBe(100);
    expect(accounts()).toMatchObject({ ok: true, held: 0 });
  });

  it('starts no attempt, and holds nothing, for a caller that leaves while it waits at any stage', async () => {
    limitTable('7', 10);
    gate.reserve('write', 100);
    let started = 0;
    for (const abortAfterMs of [0, 1, 50, 99, 101, 150, 300]) {
      const controller = new AbortController();
      const call = gate.call({ rpc: 'write', table: 7, signal: controller.signal }, () => {
        started += 1;
      });
      gates.time.setTimer(abortAfterMs, () => controller.abort('gone'));
      await expect(ended(gates, call)).rejects.toBe('gone');
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      expect(accounts()).toMatchObject({ ok: true, held: 0 });
    }
    expect(started).toBe(0);
  });

  it('leaves no listener after 100,000 calls on one signal', async () => {
    gates.configure({ host: { rpcs: { read: { qpsPerCore: 1e6, burst: 1e6 } } } });
    // A larger bucket is not a full one.
    gates.time.advanceBy(1000);
    const { signal } = new AbortController();
    for (let i = 0; i < 100_000; i++) await gate.call({ rpc: 'read', signal, weight: 1 }, ok);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const [read] = gates.snapshot().rpcs;
    expect(read).toMatchObject({ calls: 100_000, spent: 100_000 });
    expect(accounts()).toMatchObject({ ok: true, held: 0 });
  });

  it('passes on what a synchronous attempt throws, and counts the permit as spent', async () => {
    const error = new Error('at once');
    await expect(
      gate.call({ rpc: 'read' }, () => {
        throw error;
      }),
    ).rejects.toBe(error);
    expect(accounts()).toMatchObject({ ok: true, spent: 1, held: 0 });
  });

  describe('that is left', () => {
    it('rejects who waits at the host and at a table, and refuses every verb from then on', async () => {
      limitTable('7', 1);
      gate.tryAcquire('read', 5);
      await gate.call({ rpc: 'write', table: 7 }, ok);
      const waiting = [
        gate.acquire('read'),
        gate.call({ rpc: 'read' }, ok),
        gate.call({ rpc: 'write', table: 7 }, ok),
      ];
      const settled = Promise.allSettled(waiting);
      gate.detach();
      gate.detach();
      for (const outcome of await settled)
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: expect.any(RuntimeClosedError),
        });
      expect(() => gate.tryAcquire('read')).toThrow(RuntimeClosedError);
      expect(() => gate.limiter('read')).toThrow(RuntimeClosedError);
      await expect(gate.acquire('read')).rejects.toThrow(RuntimeClosedError);
      await expect(gate.call({ rpc: 'read' }, ok)).rejects.toThrow(RuntimeClosedError);
      expect(gates.time.pendingTimers).toBe(0);
    });

    it('refuses also through a limiter that was bound before, by either clock', () => {
      gates.configure({ host: { rpcs: { read: { clock: 'coarse' } } } });
      const limiter = gate.limiter('read');
      gates.arena.kernel.publishClock(1);
      expect(limiter.tryAcquire()).toBe(true);
      gate.detach();
      expect(() => limiter.tryAcquire()).toThrow(RuntimeClosedError);
      expect(() => limiter.reserve()).toThrow(RuntimeClosedError);
    });
  });

  it('of a closed runtime refuses every verb', async () => {
    const limiter = gate.limiter('read');
    gates.close();
    expect(() => gate.tryAcquire('read')).toThrow(RuntimeClosedError);
    expect(() => limiter.tryAcquire()).toThrow(RuntimeClosedError);
    expect(() => gate.reserve('read')).toThrow(RuntimeClosedError);
    await expect(gate.acquire('read')).rejects.toThrow(RuntimeClosedError);
    await expect(gate.call({ rpc: 'read' }, ok)).rejects.toThrow(RuntimeClosedError);
    expect(accounts()).toMatchObject({ ok: true, granted: 0 });
  });
});
