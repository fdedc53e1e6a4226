import { describe, expect, it } from 'vitest';
import type { ActorRef } from '../../../src/actors/core/actor-ref.js';
import type { TabletMessage } from '../../../src/actors/kv/tablet-message.js';
import { LogFailedError, LogFullError } from '../../../src/shared/kv-errors.js';
import { put, TabletUnderTest, text } from './tablet-under-test.js';

const many = (n: number, from = 0) =>
  Array.from({ length: n }, (_, i) => put(`k${String(from + i).padStart(5, '0')}`, `v${from + i}`));

describe('a put', () => {
  it('with completion log is answered when it is durable, and read from the buffer', async () => {
    const under = new TabletUnderTest({}, { callMs: 1000 });
    const reply = under.put([put('a', '1'), put('b', '2')]);
    await under.pass(1);
    expect(under.log.batches).toHaveLength(1);
    await under.pass(1);
    expect(await reply).toEqual({ code: 0, message: '', logEndOffset: 2, pressure: 0 });
    expect(under.engine.applied).toEqual([]);
    expect(await under.get('a', 'b')).toEqual(['1', '2']);
    expect(under.time.nowMs).toBeLessThan(10);
  });

  it('with completion flush is answered when it is in the store', async () => {
    const under = new TabletUnderTest({}, { callMs: 50 });
    const reply = await under.settled(under.put([put('a', '1')], 'flush'));
    expect(reply).toMatchObject({ code: 0, logEndOffset: 1 });
    expect(under.time.nowMs).toBeGreaterThanOrEqual(52);
    expect(under.engine.applied.map(({ flushedUpTo }) => flushedUpTo)).toEqual([1]);
    expect(await under.status()).toMatchObject({ entries: 0, pendingBytes: 0, flushedUpTo: 1 });
  });

  it('is flushed in segments, in order, each with its offset', async () => {
    const under = new TabletUnderTest({ segmentRecords: 4, segmentsPerRun: 2 });
    await under.settled(under.put(many(10), 'flush'));
    expect(under.engine.applied.map(({ flushedUpTo }) => flushedUpTo)).toEqual([4, 8, 10]);
    expect(
      under.engine.applied.flatMap(({ records }) => records.map(({ value }) => text(value))),
    ).toEqual(many(10).map(({ value }) => text(value)));
    expect(under.counts).toMatchObject({ accepted: 10, flushed: 10 });
  });

  it('keeps the order of puts that overlap in the log', async () => {
    const under = new TabletUnderTest();
    const replies = [1, 2, 3].map((n) => under.put([put('a', String(n))]));
    for (const [i, reply] of replies.entries()) {
      expect((await under.settled(reply)).logEndOffset).toBe(i + 1);
    }
    expect(await under.get('a')).toEqual(['3']);
    await under.pass(100);
    expect(await under.get('a')).toEqual(['3']);
  });

  it('of a delete hides the row, in the buffer and in the store', async () => {
    const under = new TabletUnderTest();
    await under.settled(under.put([put('a', '1'), put('b', '2')], 'flush'));
    await under.settled(under.put([put('a', null)]));
    expect(await under.get('a', 'b', 'c')).toEqual([null, '2', null]);
    await under.pass(100);
    expect(await under.get('a', 'b')).toEqual([null, '2']);
  });
});

describe('the gate', () => {
  it('reports pressure with the answers, from a sample that is at most so old', async () => {
    const under = new TabletUnderTest();
    under.engine.sample = { l0Files: 11, stalled: false };
    const first = await under.settled(under.put([put('a', '1')]));
    expect(first.pressure).toBe(0.25);
    under.engine.sample = { l0Files: 0, stalled: false };
    await under.pass(200);
    const later = await under.settled(under.put([put('a', '2')], 'flush'));
    expect(later.pressure).toBe(0);
  });

  it('refuses with 71 before the engine is at its trigger, at once, and takes nothing', async () => {
    const under = new TabletUnderTest();
    under.engine.sample = { l0Files: 12, stalled: false };
    await under.settled(under.put([put('a', '1')], 'flush'));
    const reply = await under.settled(under.put([put('b', '1')]));
    expect(reply.code).toBe(71);
    expect(reply.pressure).toBeCloseTo(4 / 12);
    expect(reply.logEndOffset).toBeUndefined();
    expect(under.log.batches).toHaveLength(1);
    expect(under.counts.rejected).toBe(1);
    under.engine.sample = { l0Files: 3, stalled: false };
    // The refused put asked the engine anew, or a later one does: no stale sample refuses for ever.
    await under.pass(150);
    await under.settled(under.put([put('b', '2')]));
    await under.pass(5);
    expect((await under.settled(under.put([put('b', '3')]))).code).toBe(0);
  });

  it('refuses what would wait for the store beyond the bound, whatever level 0 says', async () => {
    const under = new TabletUnderTest({ maxPendingBytes: 10 }, { callMs: 1000 });
    expect((await under.settled(under.put([put('aaaaa', 'bbbbb')]))).code).toBe(0);
    expect((await under.settled(under.put([put('c', 'd')]))).code).toBe(71);
  });

  it('counts what is still in the log', async () => {
    const under = new TabletUnderTest({ maxPendingBytes: 10 });
    const first = under.put([put('aaaaa', 'bbbbb')]);
    const second = under.put([put('c', 'd')]);
    expect((await under.settled(second)).code).toBe(71);
    expect((await under.settled(first)).code).toBe(0);
  });
});

describe('a refused flush', () => {
  it('is tried again at growing delays, keeps everything readable, and refuses puts until one goes through', async () => {
    const under = new TabletUnderTest({ minRetryMs: 10, maxRetryMs: 40 });
    under.engine.sample = { l0Files: 0, stalled: true };
    const waiting = under.put([put('a', '1')], 'flush');
    await under.pass(150);
    expect(under.counts.retried).toBe(5);
    expect(await under.get('a')).toEqual(['1']);
    expect(await under.settled(under.put([put('b', '1')]))).toMatchObject({
      code: 71,
      pressure: 0.8,
    });
    under.engine.sample = { l0Files: 0, stalled: false };
    expect(await under.settled(waiting)).toMatchObject({ code: 0, pressure: 0 });
    expect((await under.settled(under.put([put('b', '2')]))).code).toBe(0);
    expect(under.engine.applied).toHaveLength(1);
  });

  it('in the middle of a run keeps what is written and gives back the rest', async () => {
    const under = new TabletUnderTest({ segmentRecords: 1, minRetryMs: 100 });
    const done = under.put(many(3), 'flush');
    await under.pass(2);
    while (under.engine.applied.length < 2) await under.pass(1);
    under.engine.sample = { l0Files: 0, stalled: true };
    await under.pass(20);
    expect(await under.status()).toMatchObject({ flushedUpTo: 2, entries: 1 });
    under.engine.sample = { l0Files: 0, stalled: false };
    expect((await under.settled(done)).code).toBe(0);
    expect(under.engine.applied.map(({ flushedUpTo }) => flushedUpTo)).toEqual([1, 2, 3]);
  });
});

describe('failures', () => {
  it('a broken engine fails the tablet, answers who waits, and is reported', async () => {
    const under = new TabletUnderTest();
    under.engine.failure = new Error('corrupt block');
    const waiting = await under.settled(under.put([put('a', '1')], 'flush'));
    expect(waiting).toMatchObject({ code: 5, message: expect.stringContaining('corrupt block') });
    expect(under.failures).toHaveLength(1);
    expect(await under.settled(under.put([put('b', '1')]))).toMatchObject({ code: 5 });
    await expect(under.get('a')).rejects.toThrow('tablet failed: corrupt block');
    expect(under.log.batches).toHaveLength(1);
  });

  it('a full disk refuses the put, keeps nothing of it, and the next one may succeed', async () => {
    const under = new TabletUnderTest();
    under.log.failure = new LogFullError('no space left on device');
    expect(await under.settled(under.put([put('a', '1')]))).toMatchObject({ code: 6 });
    expect(await under.get('a')).toEqual([null]);
    under.log.failure = undefined;
    expect((await under.settled(under.put([put('a', '2')], 'flush'))).code).toBe(0);
    expect(await under.get('a')).toEqual(['2']);
    under.crash();
    under.start();
    expect(await under.get('a')).toEqual(['2']);
  });

  it('a log that cannot sync fails the tablet', async () => {
    const under = new TabletUnderTest();
    under.log.failure = new LogFailedError('EIO');
    expect((await under.settled(under.put([put('a', '1')]))).code).toBe(5);
    expect((await under.status()).mode).toBe('failed');
  });
});

describe('scans', () => {
  it('see the newest of every key, whatever of it is in the store', async () => {
    const under = new TabletUnderTest({}, { callMs: 20 });
    await under.settled(
      under.put([put('a', '1'), put('b', '1'), put('c', '1'), put('d', '1')], 'flush'),
    );
    await under.settled(under.put([put('b', null), put('c', '2'), put('cc', '2')]));
    expect(await under.scan(10)).toEqual({ keys: ['a=1', 'c=2', 'cc=2', 'd=1'], more: false });
    expect(await under.scan(2)).toEqual({ keys: ['a=1', 'c=2'], more: true });
    expect(await under.scan(10, 'b', 'd')).toEqual({ keys: ['c=2', 'cc=2'], more: false });
    expect(await under.scan(1, 'b', 'c')).toEqual({ keys: [], more: false });
  });
});

describe('checkpoint and close', () => {
  it('releases the log behind what the store has for good', async () => {
    const under = new TabletUnderTest();
    await under.settled(under.put([put('a', '1')], 'flush'));
    expect(under.log.batches).toHaveLength(1);
    under.system.tell(under.tablet, { kind: 'checkpoint' });
    await under.pass(10);
    expect(under.engine.checkpoints).toBe(1);
    expect(under.log.batches).toHaveLength(0);
    under.system.tell(under.tablet, { kind: 'checkpoint' });
    await under.pass(10);
    expect(under.engine.checkpoints).toBe(1);
  });

  it('close answers who waits for the store that it closes, also who is not in the log yet', async () => {
    const under = new TabletUnderTest({}, { callMs: 50 });
    const first = under.put([put('a', '1')], 'flush');
    await under.pass(10);
    const second = under.put([put('b', '2')], 'flush');
    const closed = under.system.ask(
      under.tablet,
      (replyTo: ActorRef<'closed'>): TabletMessage => ({ kind: 'close', replyTo }),
      { timeoutMs: 1000 },
    );
    await under.settled(closed);
    expect(await first).toMatchObject({ code: 7 });
    expect(await second).toMatchObject({ code: 7, message: 'the server is closing' });
    under.crash();
    under.start();
    expect(await under.get('a', 'b')).toEqual(['1', '2']);
  });

  it('close waits for what is under way and answers the rest', async () => {
    const under = new TabletUnderTest({}, { callMs: 40 });
    const waiting = under.put([put('a', '1')], 'flush');
    await under.pass(3);
    const closed = under.system.ask(
      under.tablet,
      (replyTo: ActorRef<'closed'>): TabletMessage => ({ kind: 'close', replyTo }),
      { timeoutMs: 1000 },
    );
    expect(await under.settled(waiting)).toMatchObject({ code: 7 });
    expect(under.time.nowMs).toBeLessThan(20);
    await under.settled(closed);
    expect(under.time.nowMs).toBeGreaterThanOrEqual(42);
    expect(await under.settled(under.put([put('b', '1')]))).toMatchObject({ code: 7 });
    under.crash();
    under.start();
    expect(await under.get('a')).toEqual(['1']);
  });
});
