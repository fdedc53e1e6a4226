import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WriterUnderTest } from './writer-under-test.js';

const numbers = (to: number): number[] => Array.from({ length: to }, (_, i) => i);

async function started(...args: ConstructorParameters<typeof WriterUnderTest>) {
  const writer = new WriterUnderTest(...args);
  await writer.turns();
  return writer;
}

describe('batches', () => {
  it('wait for others as long as they may linger, and go as one', async () => {
    const writer = await started({ lingerMs: 5 });
    writer.put('a', { bucket: 1 });
    await writer.advance(4);
    writer.put('b', { bucket: 1 });
    expect(writer.sent).toEqual([]);
    await writer.advance(1);
    expect(writer.sent.map(({ keys, bucket, atMs }) => [keys, bucket, atMs])).toEqual([
      [['a', 'b'], 1, 5],
    ]);
  });

  it('go at once when they are full, a large record alone', async () => {
    const writer = await started({ lingerMs: 1000, batchBytes: 400 });
    for (const key of ['a', 'b', 'c']) {
      writer.put(key, { bucket: 0, value: new Uint8Array(key === 'b' ? 1000 : 100) });
    }
    await writer.turns();
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a']]);
    writer.sent[0]?.take();
    await writer.turns();
    writer.sent[1]?.take();
    await writer.turns();
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
    await writer.advance(1000);
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a'], ['b'], ['c']]);
  });

  it('follow each other one at a time per bucket, in order, and buckets do not wait for each other', async () => {
    const writer = await started({ lingerMs: 0 });
    writer.put('a1', { bucket: 0 });
    await writer.turns();
    writer.put('a2', { bucket: 0 });
    writer.put('b1', { bucket: 1 });
    writer.put('a3', { bucket: 0 });
    await writer.advance(50);
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a1'], ['b1']]);
    writer.sent[0]?.take();
    await writer.turns();
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a1'], ['b1'], ['a2', 'a3']]);
  });

  it('resolve with their bucket and the end of its log', async () => {
    const writer = await started({ lingerMs: 0 });
    const fates = [writer.put('a', { bucket: 3 }), writer.put('b', { bucket: 3, value: null })];
    await writer.turns();
    expect(writer.sent[0]?.records.map(({ value }) => value?.length)).toEqual([4, undefined]);
    writer.sent[0]?.take();
    await writer.turns();
    for (const { result } of fates) expect(result).toEqual({ bucket: 3, logEndOffset: 2 });
  });

  it('go to the bucket that the key belongs to, or that the partition says', async () => {
    const writer = await started({
      lingerMs: 0,
      partition: (key, buckets) => (key[0] ?? 0) % buckets,
    });
    writer.put('a');
    await writer.turns();
    expect(writer.sent.map(({ bucket }) => bucket)).toEqual([97 % 8]);
    const plain = await started({ lingerMs: 0 });
    for (const i of numbers(800)) plain.put(`key ${i}`);
    await plain.turns();
    const sizes = plain.sent.map(({ records }) => records.length);
    expect(sizes.length).toBe(8);
    expect(Math.min(...sizes)).toBeGreaterThan(60);
  });

  it('are numbered by attempt, whatever their bucket', async () => {
    const writer = await started({ lingerMs: 0 });
    for (const bucket of numbers(3)) writer.put('a', { bucket });
    await writer.turns();
    writer.sent[1]?.end({ kind: 'lost', error: new Error('gone') });
    await writer.advance(100);
    expect(writer.sent.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect(writer.sent[3]?.bucket).toBe(1);
  });
});

describe('pressure', () => {
  it('leaves a bucket alone for maxThrottleMs times its square, and no other', async () => {
    const writer = await started({ lingerMs: 0, pressure: { maxThrottleMs: 1000 } });
    writer.put('a', { bucket: 0 });
    await writer.turns();
    writer.sent[0]?.take(0.5);
    await writer.turns();
    writer.put('b', { bucket: 0 });
    writer.put('c', { bucket: 1 });
    await writer.advance(249);
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a'], ['c']]);
    expect(writer.core.stats().pressure).toEqual([
      { table: 't', bucket: 0, pressure: 0.5, remainingMs: 1 },
    ]);
    await writer.advance(1);
    expect(writer.sent.map(({ keys, atMs }) => [keys, atMs])).toEqual([
      [['a'], 0],
      [['c'], 0],
      [['b'], 250],
    ]);
    expect(writer.core.stats().throttledMs).toBe(250);
  });

  it('keeps a refused batch at the head for the longest window', async () => {
    const writer = await started({ lingerMs: 0, pressure: { maxThrottleMs: 800 } });
    writer.put('a', { bucket: 0 });
    await writer.turns();
    writer.put('b', { bucket: 0 });
    writer.sent[0]?.answer({ errorCode: 71, errorMessage: 'pressed', pressure: 0.1 });
    await writer.advance(799);
    expect(writer.sent.length).toBe(1);
    await writer.advance(1);
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a'], ['a']]);
    writer.sent[1]?.take();
    await writer.turns();
    expect(writer.sent[2]?.keys).toEqual(['b']);
    expect(writer.core.stats()).toMatchObject({ refusals: 1, retries: 1 });
  });

  it('of an answer without any lifts the window; of a failure it says nothing', async () => {
    const writer = await started({ lingerMs: 0, pressure: { maxThrottleMs: 10_000 } });
    writer.put('a', { bucket: 0 });
    await writer.turns();
    writer.put('b', { bucket: 0 });
    writer.sent[0]?.take(0.9);
    await writer.turns();
    expect(writer.core.stats().windows).toBe(1);
    await writer.advance(8100);
    writer.sent[1]?.answer({ errorCode: 6, errorMessage: 'full', pressure: 0.9 });
    await writer.turns();
    expect(writer.core.stats().windows).toBe(1);
    await writer.advance(8100);
    writer.sent[2]?.take();
    await writer.turns();
    expect(writer.core.stats().windows).toBe(0);
  });

  it.each([Number.NaN, 7, -1, Number.POSITIVE_INFINITY, 'x', null, {}])(
    'of %s holds nobody for longer than the longest window',
    async (pressure) => {
      const writer = await started({ lingerMs: 0, pressure: { maxThrottleMs: 400 } });
      writer.put('a', { bucket: 0 });
      await writer.turns();
      writer.sent[0]?.take(pressure as number);
      await writer.turns();
      writer.put('b', { bucket: 0 });
      await writer.advance(400);
      expect(writer.sent.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
      expect(writer.sent[1]?.atMs).toBe(typeof pressure === 'number' && pressure > 0 ? 400 : 0);
    },
  );

  it('without a longest window still pauses between refusals', async () => {
    const writer = await started({ lingerMs: 0, pressure: { maxThrottleMs: 0 } });
    writer.transport.onPut = (sent) => sent.answer({ errorCode: 71 });
    writer.put('a', { bucket: 0 });
    await writer.advance(1000);
    expect(writer.sent.length).toBeGreaterThan(2);
    expect(writer.sent.length).toBeLessThan(10);
  });

  it('is not looked at by who ignores it', async () => {
    const writer = await started({ lingerMs: 0, ignorePressure: true });
    writer.put('a', { bucket: 0 });
    await writer.turns();
    writer.put('b', { bucket: 0 });
    writer.sent[0]?.take(0.99);
    await writer.turns();
    expect(writer.sent.length).toBe(2);
    expect(writer.core.stats().windows).toBe(0);
  });

  it('of 10,000 buckets leaves nothing behind when metadata no longer names them', async () => {
    const writer = new WriterUnderTest({
      lingerMs: 0,
      pressure: { maxThrottleMs: 86_400_000 },
      deliveryTimeoutMs: 86_400_000,
      metadataRefreshMs: 60_000,
    });
    writer.transport.tables = { t: 10_000 };
    writer.transport.onPut = (sent) => sent.take(0.9);
    await writer.turns();
    for (const bucket of numbers(10_000)) writer.put('a', { bucket });
    await writer.turns();
    const stuck = numbers(10_000).map((bucket) => writer.put('b', { bucket }));
    await writer.turns();
    expect(writer.core.stats()).toMatchObject({ windows: 10_000, records: 10_000 });
    writer.transport.tables = {};
    await writer.advance(60_000);
    expect(writer.core.stats()).toMatchObject({
      windows: 0,
      records: 0,
      bufferedBytes: 0,
      pressure: [],
    });
    expect(new Set(stuck.map(({ error }) => error.name))).toEqual(
      new Set(['KvUnknownBucketError']),
    );
    expect(writer.sent.length).toBe(10_000);
    expect(writer.time.pendingTimers).toBe(0);
  });
});

describe('an attempt that came to nothing', () => {
  it.each([
    [
      'lost',
      (at: WriterUnderTest) => at.sent.at(-1)?.end({ kind: 'lost', error: new Error('gone') }),
    ],
    ...[6, 7, 8, 9].map(
      (errorCode) =>
        [
          `code ${errorCode}`,
          (at: WriterUnderTest) => at.sent.at(-1)?.answer({ errorCode }),
        ] as const,
    ),
    ['an answer of another bucket', (at) => at.sent.at(-1)?.answer({ errorCode: 0, bucket: 7 })],
    ['an answer without an offset', (at) => at.sent.at(-1)?.answer({ errorCode: 0 })],
    ...[undefined, null, 'x', {}, { buckets: [] }, { buckets: [null] }, { buckets: [{}, {}] }].map(
      (response) =>
        [
          `garbage ${JSON.stringify(response)}`,
          (at: WriterUnderTest) => at.sent.at(-1)?.end({ kind: 'response', response }),
        ] as const,
    ),
  ] as readonly (readonly [string, (at: WriterUnderTest) => void])[])(
    '(%s) is made again in its place, after pauses that double up to their most',
    async (_, spoil) => {
      const retry = { minRetryMs: 100, maxRetryMs: 400 };
      const writer = await started({ lingerMs: 0, retry });
      writer.random = 0.999_999;
      writer.put('a', { bucket: 0 });
      await writer.turns();
      writer.put('b', { bucket: 0 });
      for (const pauseMs of [100, 200, 400, 400]) {
        spoil(writer);
        const before = writer.sent.length;
        await writer.advance(pauseMs / 2 - 1);
        expect(writer.sent.length).toBe(before);
        await writer.advance(pauseMs / 2 + 1);
        expect(writer.sent.length).toBe(before + 1);
        expect(writer.sent.at(-1)?.keys).toEqual(['a']);
      }
      writer.sent.at(-1)?.take();
      await writer.turns();
      expect(writer.sent.at(-1)?.keys).toEqual(['b']);
      expect(writer.fates[0]?.settled).toBe('resolved');
    },
  );

  it('is given up where it would end so again', async () => {
    const writer = await started({ lingerMs: 0 });
    const a = writer.put('a', { bucket: 0 });
    await writer.turns();
    const b = writer.put('b', { bucket: 0 });
    writer.sent[0]?.answer({ errorCode: 5, errorMessage: 'broken' });
    await writer.turns();
    expect(a.error).toMatchObject({
      code: 'ERR_SPILLWAY_KV_WRITE',
      storageCode: 5,
      outcome: 'unknown',
      table: 't',
      bucket: 0,
    });
    writer.sent[1]?.answer({ errorCode: 42 });
    await writer.turns();
    expect(b.error).toMatchObject({ storageCode: 42, outcome: 'unknown' });
    const c = writer.put('c', { bucket: 0 });
    await writer.turns();
    const denied = new Error('who are you');
    writer.sent[2]?.end({ kind: 'refused', error: denied });
    await writer.turns();
    expect(c.error).toMatchObject({ storageCode: undefined, cause: denied });
  });

  it('is split for the one record that the server does not take, in order', async () => {
    const writer = await started({ lingerMs: 0 });
    writer.transport.onPut = (sent) => {
      if (!sent.keys.includes('bad')) sent.take();
      else sent.answer({ errorCode: 3, errorMessage: 'bad record' });
    };
    const keys = ['a', 'b', 'c', 'bad', 'd', 'e', 'f'];
    const fates = keys.map((key) => writer.put(key, { bucket: 0 }));
    await writer.turns();
    expect(fates.map(({ settled }) => settled)).toEqual(
      keys.map((key) => (key === 'bad' ? 'rejected' : 'resolved')),
    );
    expect(fates[3]?.error).toMatchObject({ name: 'KvRecordError', storageCode: 3 });
    const taken = writer.sent.filter((sent) => !sent.keys.includes('bad'));
    expect(taken.flatMap((sent) => sent.keys)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(writer.core.stats().bufferedBytes).toBe(0);
  });
});

describe('a deadline', () => {
  it('rejects what waits and says that it was not taken', async () => {
    const writer = await started({
      lingerMs: 0,
      deliveryTimeoutMs: 500,
      pressure: { maxThrottleMs: 3000 },
    });
    writer.put('a', { bucket: 0 });
    await writer.turns();
    writer.sent[0]?.take(0.999);
    await writer.turns();
    const b = writer.put('b', { bucket: 0 });
    await writer.advance(499);
    const c = writer.put('c', { bucket: 0 });
    await writer.advance(1);
    expect(b.error).toMatchObject({
      code: 'ERR_SPILLWAY_KV_DELIVERY_TIMEOUT',
      outcome: 'not-taken',
      timeoutMs: 500,
    });
    expect(c.settled).toBe('no');
    await writer.advance(499);
    expect(c.settled).toBe('rejected');
    expect(writer.core.stats()).toMatchObject({ records: 0, bufferedBytes: 0 });
  });

  it('of records in a request says that nobody knows, and keeps the order all the same', async () => {
    const writer = await started({ lingerMs: 0, deliveryTimeoutMs: 500 });
    const a = writer.put('a', { bucket: 0 });
    await writer.advance(300);
    const b = writer.put('b', { bucket: 0 });
    await writer.advance(200);
    expect(a.error).toMatchObject({ outcome: 'unknown' });
    // One at a time also now: only its answer, or its own time-out, ends an attempt.
    expect(writer.sent.length).toBe(1);
    expect(writer.core.stats().bufferedBytes).toBe(2 * (1 + 4 + 64));
    writer.sent[0]?.end({ kind: 'lost', error: new Error('no answer') });
    await writer.advance(50);
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
    writer.sent[1]?.take();
    await writer.turns();
    expect(b.settled).toBe('resolved');
    expect(a.times).toBe(1);
    expect(writer.core.stats().bufferedBytes).toBe(0);
  });

  it('of the last record is that of its request, too: those behind it do not wait for longer', async () => {
    const writer = await started({ lingerMs: 100, deliveryTimeoutMs: 500, requestTimeoutMs: 2000 });
    writer.put('a', { bucket: 0 });
    await writer.advance(60);
    writer.put('b', { bucket: 0 });
    await writer.advance(40);
    expect(writer.sent.map(({ keys, timeoutMs }) => [keys, timeoutMs])).toEqual([
      [['a', 'b'], 460],
    ]);
    writer.sent[0]?.take();
    const patient = await started({ lingerMs: 0, requestTimeoutMs: 2000 });
    patient.put('a', { bucket: 0 });
    await patient.turns();
    expect(patient.sent[0]?.timeoutMs).toBe(2000);
  });

  it('of all that was tried before leaves nothing behind: the next record lingers as ever', async () => {
    const writer = await started({ lingerMs: 100, deliveryTimeoutMs: 500 });
    writer.put('a', { bucket: 0 });
    await writer.advance(100);
    writer.random = 1;
    writer.transport.onPut = (sent) => sent.end({ kind: 'lost', error: new Error('gone') });
    writer.sent[0]?.end({ kind: 'lost', error: new Error('gone') });
    await writer.advance(5000);
    const { length } = writer.sent;
    writer.put('b', { bucket: 0 });
    await writer.advance(99);
    expect(writer.sent.length).toBe(length);
    await writer.advance(1);
    expect(writer.sent[length]?.keys).toEqual(['b']);
  });

  it('after a lost attempt says that nobody knows, with the loss as its cause', async () => {
    const writer = await started({ lingerMs: 0, deliveryTimeoutMs: 500 });
    const error = new Error('gone');
    writer.transport.onPut = (sent) => sent.end({ kind: 'lost', error });
    const a = writer.put('a', { bucket: 0 });
    await writer.advance(500);
    expect(a.error).toMatchObject({ outcome: 'unknown', cause: error });
    expect(writer.time.pendingTimers).toBe(0);
  });

  it('holds also while nothing is known of any table', async () => {
    const writer = new WriterUnderTest({ lingerMs: 0, deliveryTimeoutMs: 500 });
    const error = new Error('nobody there');
    writer.transport.onDescribe = (done) =>
      void writer.time.schedule(() => done({ kind: 'lost', error }));
    const a = writer.put('a');
    await writer.advance(500);
    expect(a.error).toMatchObject({ outcome: 'not-taken', bucket: undefined, cause: error });
    expect(a.error.message).toBe('not acknowledged by t within 500 ms; it was not taken');
    expect(writer.transport.describes).toBeGreaterThan(2);
    expect(writer.transport.describes).toBeLessThan(12);
    expect(writer.isHeldAlive).toBe(false);
  });
});

describe('a full buffer', () => {
  const bytes = 1000 - 64 - 1;

  it('makes puts wait in order, each bucket for itself', async () => {
    const writer = await started({ lingerMs: 0, batchBytes: 1000, bufferBytes: 4000 });
    for (const key of ['a', 'b', 'c', 'd']) {
      writer.put(key, { bucket: 0, value: new Uint8Array(bytes) });
    }
    // One bucket may fill half of it; another still finds room.
    expect(writer.core.stats()).toMatchObject({ waiting: 2, bufferedBytes: 2000 });
    writer.put('x', { bucket: 1, value: new Uint8Array(bytes) });
    expect(writer.core.stats().waiting).toBe(2);
    let isReady = false;
    void writer.core.ready().then(() => {
      isReady = true;
    });
    await writer.turns();
    expect(isReady).toBe(false);
    for (const _ of numbers(4)) {
      for (const sent of writer.flying) sent.take();
      await writer.turns();
    }
    expect(isReady).toBe(true);
    const keys = writer.sent.filter(({ bucket }) => bucket === 0).flatMap((sent) => sent.keys);
    expect(keys).toEqual(['a', 'b', 'c', 'd']);
    expect(writer.core.stats()).toMatchObject({ records: 0, bufferedBytes: 0, waiting: 0 });
  });

  it('or not, who waits to be ready gives the thread up every few batches', async () => {
    const writer = await started();
    const produce = async (count: number): Promise<void> => {
      for (const i of numbers(count)) {
        writer.put(`${i}`, { bucket: 0 });
        const ready = writer.core.ready();
        writer.time.settle();
        await ready;
      }
    };
    await produce(900);
    expect(writer.turnsTaken).toBe(0);
    await produce(4100);
    expect(writer.turnsTaken).toBe(5);
  });

  it('never keeps calm buckets from writing, however many are pressed', async () => {
    const writer = await started({ lingerMs: 0, batchBytes: 1000, bufferBytes: 40_000 });
    writer.transport.onPut = (sent) => {
      if (sent.bucket < 6) sent.answer({ errorCode: 71 });
      else sent.take();
    };
    for (const i of numbers(100)) {
      for (const bucket of numbers(6)) {
        writer.put(`${bucket} ${i}`, { bucket, value: new Uint8Array(500) });
      }
      await writer.turns();
    }
    const calm = numbers(20).map((i) => writer.put(`calm ${i}`, { bucket: 6 + (i % 2) }));
    await writer.advance(10);
    expect(calm.every(({ settled }) => settled === 'resolved')).toBe(true);
  });

  it('lets a large record in that never finds room among many busy buckets, one at a time', async () => {
    const writer = await started({ lingerMs: 0, batchBytes: 400, bufferBytes: 4000 });
    writer.transport.onPut = (sent) => void writer.time.setTimer(10, () => sent.take());
    const feed = (): void => {
      for (const bucket of numbers(6)) {
        for (const i of numbers(6)) writer.put(`${i}`, { bucket, value: new Uint8Array(100) });
      }
    };
    feed();
    await writer.turns();
    feed();
    const [large, other] = [6, 7].map((bucket) =>
      writer.put('L', { bucket, value: new Uint8Array(2500) }),
    );
    for (let i = 0; i < 5; i += 1) {
      feed();
      await writer.advance(10);
      expect(writer.core.stats().bufferedBytes).toBeLessThanOrEqual(4000 + 2500 + 65);
    }
    expect(large?.settled).toBe('resolved');
    expect(other?.settled).toBe('resolved');
    expect(writer.core.stats().waiting).toBeGreaterThan(100);
  });

  it('lets a record in when its bucket may go again, also when nothing else happens', async () => {
    const writer = await started({ lingerMs: 0, batchBytes: 100, bufferBytes: 2000 });
    writer.put('p', { bucket: 0 });
    await writer.turns();
    writer.sent[0]?.take(0.5);
    await writer.turns();
    // Requests that hang have the buffer.
    for (const bucket of numbers(7)) {
      writer.put('h', { bucket: bucket + 1, value: new Uint8Array(bucket === 0 ? 900 : 80) });
    }
    await writer.turns();
    const large = writer.put('L', { bucket: 0, value: new Uint8Array(800) });
    await writer.advance(749);
    expect(writer.core.stats().waiting).toBe(1);
    await writer.advance(1);
    expect(writer.sent.at(-1)?.keys).toEqual(['L']);
    writer.sent.at(-1)?.take();
    await writer.turns();
    expect(large.settled).toBe('resolved');
  });

  it('fails puts where it is told to', async () => {
    const writer = await started({ lingerMs: 0, bufferBytes: 2000, onFull: 'fail' });
    writer.put('a', { bucket: 0, value: new Uint8Array(bytes) });
    const b = writer.put('b', { bucket: 0, value: new Uint8Array(bytes) });
    await writer.turns();
    expect(b.error).toMatchObject({
      code: 'ERR_SPILLWAY_KV_BUFFER_FULL',
      bufferedBytes: 1000,
      bufferBytes: 2000,
      retriable: true,
    });
    writer.sent[0]?.take();
    await writer.turns();
    const c = writer.put('c', { bucket: 0, value: new Uint8Array(bytes) });
    await writer.turns();
    expect(c.settled).toBe('no');
  });

  it('rejects at once what could never fit', async () => {
    const writer = await started({ bufferBytes: 2000 });
    const a = writer.put('a', { bucket: 0, value: new Uint8Array(3000) });
    await writer.turns();
    expect(a.error).toMatchObject({ name: 'KvRecordError', storageCode: 4 });
  });

  it('gives up what has waited too long, or was aborted, and goes on with the rest', async () => {
    const writer = await started({
      lingerMs: 0,
      batchBytes: 1000,
      bufferBytes: 2000,
      deliveryTimeoutMs: 500,
    });
    const abort = new AbortController();
    const value = new Uint8Array(bytes);
    writer.put('a', { bucket: 0, value });
    const b = writer.put('b', { bucket: 0, value, signal: abort.signal });
    await writer.advance(200);
    const c = writer.put('c', { bucket: 0, value });
    abort.abort(new Error('enough'));
    await writer.turns();
    expect(b.error).toEqual(new Error('enough'));
    await writer.advance(300);
    expect(writer.fates[0]?.error).toMatchObject({ outcome: 'unknown' });
    writer.sent[0]?.take();
    await writer.turns();
    expect(writer.sent[1]?.keys).toEqual(['c']);
    await writer.advance(200);
    expect(c.error).toMatchObject({ outcome: 'unknown' });
    writer.sent[1]?.take();
    await writer.turns();
    expect(writer.core.stats()).toMatchObject({ records: 0, bufferedBytes: 0, waiting: 0 });
  });
});

describe('a signal', () => {
  it('takes a record out wherever it is, and leaves no listener', async () => {
    const writer = await started({ lingerMs: 0, pressure: { maxThrottleMs: 1000 } });
    const { signal } = new AbortController();
    const aborts = numbers(3).map(() => new AbortController());
    const flying = writer.put('a', { bucket: 0, signal: aborts[0]?.signal as AbortSignal });
    const kept = writer.put('b', { bucket: 0, signal });
    await writer.turns();
    const waits = writer.put('c', { bucket: 0, signal: aborts[1]?.signal as AbortSignal });
    writer.put('d', { bucket: 0, signal });
    aborts[0]?.abort('no more');
    aborts[1]?.abort('no more');
    await writer.turns();
    expect([flying.error, waits.error]).toEqual(['no more', 'no more']);
    // Lost: only what is still wanted goes again.
    writer.sent[0]?.end({ kind: 'lost', error: new Error('gone') });
    await writer.advance(50);
    expect(writer.sent[1]?.keys).toEqual(['b']);
    writer.sent[1]?.take();
    await writer.turns();
    writer.sent[2]?.take();
    await writer.turns();
    expect(writer.sent[2]?.keys).toEqual(['d']);
    expect(kept.settled).toBe('resolved');
    expect(writer.watching).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const late = AbortSignal.abort('over');
    const never = writer.put('e', { bucket: 0, signal: late });
    await writer.turns();
    expect(never.error).toBe('over');
    expect(writer.core.stats()).toMatchObject({ records: 0, bufferedBytes: 0 });
  });

  it('of many aborted records does not keep them', async () => {
    const writer = await started({ lingerMs: 1000 });
    const abort = new AbortController();
    for (const i of numbers(5000)) writer.put(`${i}`, { bucket: 0, signal: abort.signal });
    const last = writer.put('last', { bucket: 0 });
    abort.abort('all');
    await writer.advance(1000);
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['last']]);
    writer.sent[0]?.take();
    await writer.turns();
    expect(last.settled).toBe('resolved');
  });
});

describe('metadata', () => {
  it('is asked for once for all, and again for a bucket that it does not name', async () => {
    const writer = new WriterUnderTest({ lingerMs: 0 });
    const fates = numbers(100).map((i) => writer.put(`${i}`));
    await writer.turns();
    expect(writer.transport.describes).toBe(1);
    for (const sent of writer.flying) sent.take();
    await writer.turns();
    expect(fates.every(({ settled }) => settled === 'resolved')).toBe(true);
    const stray = writer.put('a', { bucket: 8 });
    const lost = writer.put('a', { table: 'u' });
    await writer.advance(50);
    expect(writer.transport.describes).toBe(2);
    expect(stray.error).toMatchObject({
      code: 'ERR_SPILLWAY_KV_UNKNOWN_BUCKET',
      outcome: 'not-taken',
      table: 't',
      bucket: 8,
    });
    expect(lost.error).toMatchObject({ table: 'u', bucket: undefined });
  });

  it('keeps the order of records that name their bucket and those that do not', async () => {
    const writer = new WriterUnderTest({ lingerMs: 0, partition: () => 5 });
    writer.put('a');
    writer.put('b', { bucket: 5 });
    writer.put('c');
    await writer.turns();
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a', 'b', 'c']]);
  });

  it('of a new table is asked for at once, whatever else is waited for', async () => {
    const writer = await started({ lingerMs: 0 });
    writer.put('a', { bucket: 0 });
    await writer.advance(1000);
    writer.transport.tables = { t: 8, u: 1 };
    writer.put('b', { table: 'u' });
    await writer.advance(50);
    expect(writer.sent.map(({ table }) => table)).toEqual(['t', 'u']);
  });

  it('that cannot be had, and a bucket that backs off, are told by the stats as long as it is so', async () => {
    const writer = new WriterUnderTest({ lingerMs: 0 });
    const trouble = (): string | undefined => writer.core.stats().trouble;
    writer.transport.onDescribe = (done) =>
      writer.time.schedule(() => done({ kind: 'lost', error: new Error('nobody listens') }));
    writer.put('a', { bucket: 0 });
    expect(trouble()).toBeUndefined();
    await writer.turns();
    expect(trouble()).toBe('nobody listens');
    writer.transport.onDescribe = undefined;
    await writer.advance(1000);
    expect(trouble()).toBeUndefined();
    writer.flying[0]?.end({ kind: 'lost', error: new Error('gone') });
    await writer.turns();
    expect(trouble()).toBe('gone');
    await writer.advance(1000);
    writer.flying[0]?.take();
    await writer.turns();
    expect(trouble()).toBeUndefined();
  });

  it('that a server contradicts is asked for once more before records are rejected', async () => {
    const writer = await started({ lingerMs: 0 });
    const a = writer.put('a', { bucket: 0 });
    await writer.turns();
    writer.sent[0]?.answer({ errorCode: 2, errorMessage: 'not here' });
    writer.transport.tables = { t: { 0: 'b:2' } };
    await writer.advance(50);
    expect(writer.sent[1]).toMatchObject({ leader: 'b:2', keys: ['a'] });
    expect(writer.transport.retained).toEqual(['b:2']);
    writer.sent[1]?.answer({ errorCode: 2, errorMessage: 'not here' });
    await writer.turns();
    expect(a.error).toMatchObject({ name: 'KvUnknownBucketError', message: 'not here' });
    const b = writer.put('b', { bucket: 0 });
    await writer.turns();
    writer.sent[2]?.take();
    await writer.turns();
    expect(b.settled).toBe('resolved');
  });

  it('that a server has contradicted is asked for again by the next records', async () => {
    const writer = await started({ lingerMs: 0 });
    writer.transport.onPut = (sent) => {
      if (sent.leader === 'b:2') sent.take();
      else sent.answer({ errorCode: 2, errorMessage: 'not here' });
    };
    const a = writer.put('a', { bucket: 0 });
    await writer.advance(100);
    expect(a.error).toMatchObject({ name: 'KvUnknownBucketError' });
    writer.transport.tables = { t: { 0: 'b:2' } };
    const b = writer.put('b', { bucket: 0 });
    await writer.advance(100);
    expect(b.settled).toBe('resolved');
  });

  it('is asked for after a lost attempt also when nobody waits for that any more', async () => {
    const writer = await started({ lingerMs: 0, deliveryTimeoutMs: 500, requestTimeoutMs: 2000 });
    const a = writer.put('a', { bucket: 0 });
    await writer.advance(500);
    expect(a.settled).toBe('rejected');
    writer.transport.tables = { t: { 0: 'b:2' } };
    writer.sent[0]?.end({ kind: 'lost', error: new Error('no answer') });
    await writer.turns();
    writer.put('b', { bucket: 0 });
    await writer.turns();
    expect(writer.sent[1]).toMatchObject({ leader: 'b:2', keys: ['b'] });
  });

  it('that names a new leader is followed, behind the attempt at the old one', async () => {
    const writer = await started({ lingerMs: 0, metadataRefreshMs: 1000 });
    writer.put('a', { bucket: 0 });
    await writer.turns();
    writer.put('b', { bucket: 0 });
    writer.transport.tables = { t: { 0: 'b:2' } };
    await writer.advance(1000);
    expect(writer.sent.length).toBe(1);
    writer.sent[0]?.end({ kind: 'lost', error: new Error('gone') });
    await writer.advance(50);
    expect(writer.sent.map(({ leader, keys }) => [leader, keys])).toEqual([
      ['a:1', ['a']],
      ['b:2', ['a']],
    ]);
  });

  it.each([
    undefined,
    null,
    7,
    {},
    { tables: 1 },
    { tables: [{}] },
    { tables: [{ name: 't', buckets: [{}] }] },
  ])('%j is none: nothing is dropped for it', async (response) => {
    const writer = await started({ lingerMs: 0, metadataRefreshMs: 1000 });
    writer.put('a', { bucket: 0 });
    await writer.turns();
    writer.transport.onDescribe = (done) =>
      void writer.time.schedule(() => done({ kind: 'response', response }));
    const b = writer.put('b', { bucket: 0 });
    await writer.advance(5000);
    writer.sent[0]?.take();
    await writer.turns();
    writer.sent[1]?.take();
    await writer.turns();
    expect(b.settled).toBe('resolved');
  });

  it('that has lost a bucket waits for the request that is under way', async () => {
    const writer = await started({ lingerMs: 0, metadataRefreshMs: 1000 });
    const a = writer.put('a', { bucket: 0 });
    await writer.turns();
    const b = writer.put('b', { bucket: 0 });
    writer.transport.tables = {};
    await writer.advance(1000);
    expect(b.error).toMatchObject({ name: 'KvUnknownBucketError', outcome: 'not-taken' });
    expect(a.settled).toBe('no');
    writer.sent[0]?.take();
    await writer.turns();
    expect(a.settled).toBe('resolved');
    expect(writer.core.stats()).toMatchObject({ records: 0, bufferedBytes: 0 });
  });

  it.each([0, 71])(
    'that has lost a bucket leaves no window for its last answer, code %i',
    async (code) => {
      const writer = await started({ lingerMs: 0, metadataRefreshMs: 1000 });
      writer.put('a', { bucket: 0 });
      await writer.turns();
      writer.transport.tables = {};
      await writer.advance(1000);
      writer.sent[0]?.answer({ errorCode: code, errorMessage: '', logEndOffset: 1, pressure: 0.9 });
      await writer.turns();
      expect(writer.core.stats()).toMatchObject({ windows: 0, pressure: [] });
    },
  );

  it('is not asked for by who has nothing to do, and a process need not live for it', async () => {
    const writer = await started({ lingerMs: 0, metadataRefreshMs: 1000 });
    await writer.advance(100_000);
    expect(writer.transport.describes).toBe(1);
    expect(writer.time.pendingTimers).toBe(0);
    writer.put('a', { bucket: 0 });
    expect(writer.isHeldAlive).toBe(false);
    await writer.turns();
    expect(writer.isHeldAlive).toBe(true);
    expect(writer.transport.describes).toBe(2);
    writer.sent[0]?.take(0.9);
    await writer.turns();
    expect(writer.isHeldAlive).toBe(false);
  });

  it('a partition that gives no bucket rejects its record alone', async () => {
    const writer = new WriterUnderTest({
      lingerMs: 0,
      partition: (key) => {
        if (key[0] === 98) throw new Error('no b');
        return key[0] === 99 ? 1.5 : 0;
      },
    });
    for (const _ of numbers(2)) {
      const fates = ['a', 'b', 'c', 'd'].map((key) => writer.put(key));
      await writer.turns();
      for (const sent of writer.flying) sent.take();
      await writer.turns();
      expect(fates.map(({ settled }) => settled)).toEqual([
        'resolved',
        'rejected',
        'rejected',
        'resolved',
      ]);
      expect(fates[2]?.error.message).toBe('partition must return an integer from 0 to 7, got 1.5');
    }
    expect(writer.core.stats()).toMatchObject({ records: 0, bufferedBytes: 0 });
  });
});

describe('flush', () => {
  it('sends what lingers, and waits for what was given before it, not for what comes after', async () => {
    const writer = await started({ lingerMs: 10_000 });
    writer.put('a', { bucket: 0 });
    writer.put('b', { bucket: 1 });
    let isFlushed = false;
    void writer.core.flush().then(() => {
      isFlushed = true;
    });
    await writer.turns();
    writer.put('c', { bucket: 0 });
    expect(writer.sent.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
    writer.sent[0]?.take();
    await writer.turns();
    expect(isFlushed).toBe(false);
    // Also what failed is settled.
    writer.sent[1]?.answer({ errorCode: 5 });
    await writer.turns();
    expect(isFlushed).toBe(true);
    expect(writer.sent.length).toBe(2);
  });

  it('of nothing is over at once', async () => {
    const writer = await started();
    await writer.core.flush();
    await writer.core.flush();
  });
});

describe('close', () => {
  it('sends the rest, then leaves nothing behind', async () => {
    const writer = await started({ lingerMs: 10_000 });
    const a = writer.put('a', { bucket: 0 });
    const closed = writer.core.close(1000);
    expect(writer.core.close(5)).toBe(closed);
    await writer.turns();
    const late = writer.put('b', { bucket: 0 });
    writer.sent[0]?.take();
    await writer.turns();
    await closed;
    expect(a.settled).toBe('resolved');
    expect(late.error).toMatchObject({
      code: 'ERR_SPILLWAY_KV_WRITER_CLOSED',
      outcome: 'not-taken',
    });
    expect(writer.transport.isClosed).toBe(true);
    expect(writer.time.pendingTimers).toBe(0);
  });

  it('rejects at its deadline what is left, and says what is known of it', async () => {
    const writer = await started({ lingerMs: 0, batchBytes: 1000, bufferBytes: 2000 });
    const { signal } = new AbortController();
    const fates = ['a', 'b', 'c'].map((key) =>
      writer.put(key, { bucket: 0, signal, value: new Uint8Array(900) }),
    );
    const unplaced = writer.put('d', { table: 'u' });
    writer.transport.onDescribe = () => {};
    await writer.turns();
    const ready = writer.core.ready();
    const flushed = writer.core.flush();
    const closed = writer.core.close(300);
    await writer.advance(299);
    expect(fates.every(({ settled }) => settled === 'no')).toBe(true);
    await writer.advance(1);
    await Promise.all([closed, ready, flushed]);
    expect(fates.map(({ error }) => error.outcome)).toEqual(['unknown', 'not-taken', 'not-taken']);
    expect(unplaced.error).toMatchObject({ outcome: 'not-taken' });
    expect(writer.core.stats()).toMatchObject({ records: 0, bufferedBytes: 0, inFlight: 0 });
    expect(writer.time.pendingTimers).toBe(0);
    expect(writer.watching).toBe(0);
    // An answer that comes now is nobody's.
    writer.sent[0]?.take();
    await writer.turns();
    expect(fates[0]?.times).toBe(1);
  });

  it('of an idle writer is over at once', async () => {
    const writer = await started();
    const closed = writer.core.close(1000);
    await writer.turns();
    await closed;
    expect(writer.time.nowMs).toBe(0);
  });
});

describe('a put that can never be right', () => {
  it.each([
    ['', {}, 'KvRecordError', 'a key must have a byte'],
    ['k'.repeat(11), {}, 'KvRecordError', 'a key must have at most 10 bytes, got 11'],
    [
      'k',
      { value: new Uint8Array(21) },
      'KvRecordError',
      'a value must have at most 20 bytes, got 21',
    ],
    ['k', { value: 5 as never }, 'TypeError', 'value must be bytes or a string, got 5 (number)'],
    ['k', { table: '' }, 'TypeError', 'table must be a name, got '],
    ['k', { bucket: 1.5 }, 'RangeError', 'bucket must be an integer from 0 to 2^32 - 1, got 1.5'],
    ['k', { bucket: -1 }, 'RangeError', 'bucket must be an integer from 0 to 2^32 - 1, got -1'],
    ['k', { buckets: 1 } as never, 'TypeError', 'buckets is no option, there are bucket, signal'],
    ['k', { signal: 'x' as never }, 'TypeError', "signal must be an AbortSignal, got 'x'"],
    [
      'k',
      { signal: {} as never },
      'TypeError',
      'signal must be an AbortSignal, got [object Object] (object)',
    ],
  ])('(%j, %j) is rejected and counts for nothing', async (key, options, name, message) => {
    const writer = await started({ limits: { maxKeyBytes: 10, maxValueBytes: 20 } });
    const fate = writer.put(key, options);
    await writer.turns();
    expect(fate.error).toMatchObject({ name, message });
    expect(writer.core.stats().given).toBe(0);
  });
});
