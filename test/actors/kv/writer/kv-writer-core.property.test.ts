import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlayedServer } from './played-server.js';
import { type Fate, type Sent, WriterUnderTest } from './writer-under-test.js';

const BUCKETS = 3;
const bucket = fc.nat(BUCKETS - 1);
/** Of the buffer: the small one often has no room for a bucket's first record. */
const sizes = fc.constantFrom(1024, 3000);
/** What a record takes of it: a key of up to six bytes, a value, the overhead. */
const MOST_ROOM = 6 + 300 + 64;
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      bucket,
      size: fc.nat(300),
      isBad: fc.nat(9),
      isAborted: fc.nat(7),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(400) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      pick: fc.nat(20),
      pressure: fc.constantFrom(undefined, 0.1, 0.7, 0.999, Number.NaN, 7, -1),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('refuse' as const),
      pick: fc.nat(20),
      code: fc.constantFrom(1, 2, 5, 6, 7, 71, 99),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('lose' as const),
      pick: fc.nat(20),
      arrives: fc.constantFrom('never' as const, 'first' as const, 'late' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('garble' as const),
      pick: fc.nat(20),
      response: fc.constantFrom<unknown>(
        null,
        {},
        { buckets: [] },
        { buckets: [{ bucket: 77 }] },
        { buckets: [{}, {}] },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('late' as const), pick: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), pick: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('tables' as const), named: fc.subarray([0, 1, 2]) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
);

interface Given {
  readonly fate: Fate;
  readonly bucket: number;
  readonly abort: AbortController;
}

describe('a writer, whatever its servers do', () => {
  it('settles each put once, never lets an older record land behind an acknowledged one, gives all room back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), sizes, async (steps, bufferBytes) => {
        const writer = new WriterUnderTest({
          lingerMs: 3,
          batchBytes: 600,
          bufferBytes,
          deliveryTimeoutMs: 1500,
          metadataRefreshMs: 1000,
          pressure: { maxThrottleMs: 700 },
          retry: { minRetryMs: 20, maxRetryMs: 100 },
        });
        const server = new PlayedServer();
        writer.transport.tables = { t: BUCKETS };
        const given: Given[] = [];
        const late: Sent[] = [];
        let flushes = 0;
        let flushed = 0;
        const pickFlying = (pick: number): Sent | undefined =>
          writer.flying[pick % writer.flying.length];
        /** As a server does: a bad record spoils its batch. */
        const take = (sent: Sent, pressure?: number): void => {
          if (sent.keys.some((key) => key.startsWith('bad'))) {
            sent.answer({ errorCode: 3 });
            return;
          }
          const logEndOffset = server.arrive(sent);
          if (logEndOffset === undefined) sent.answer({ errorCode: 9 });
          else sent.answer({ errorCode: 0, logEndOffset, pressure });
        };
        const check = (): void => {
          const stats = writer.core.stats();
          expect(stats.bufferedBytes).toBeLessThanOrEqual(bufferBytes + MOST_ROOM);
          expect(stats.bufferedBytes).toBeGreaterThanOrEqual(0);
          expect(stats.inFlight).toBe(writer.flying.length);
          const busy = writer.flying.map((sent) => sent.bucket);
          expect(new Set(busy).size).toBe(busy.length);
        };
        for (const one of steps) {
          switch (one.kind) {
            case 'put': {
              const abort = new AbortController();
              const key = `${one.isBad === 0 ? 'bad' : ''}${given.length}`;
              const signal = one.isAborted === 0 ? { signal: abort.signal } : {};
              const value = new Uint8Array(one.size);
              const fate = writer.put(key, { bucket: one.bucket, value, ...signal });
              given.push({ fate, bucket: one.bucket, abort });
              break;
            }
            case 'wait':
              await writer.advance(one.ms);
              break;
            case 'answer': {
              const sent = pickFlying(one.pick);
              if (sent !== undefined) take(sent, one.pressure);
              break;
            }
            case 'refuse':
              pickFlying(one.pick)?.answer({ errorCode: one.code });
              break;
            case 'garble':
              pickFlying(one.pick)?.end({ kind: 'response', response: one.response });
              break;
            case 'lose': {
              const sent = pickFlying(one.pick);
              if (sent === undefined) break;
              const isFit = !sent.keys.some((key) => key.startsWith('bad'));
              if (one.arrives === 'first' && isFit) server.arrive(sent);
              if (one.arrives === 'late' && isFit) late.push(sent);
              sent.end({ kind: 'lost', error: new Error('lost') });
              break;
            }
            case 'late': {
              const [sent] = late.splice(one.pick % Math.max(1, late.length), 1);
              if (sent !== undefined) server.arrive(sent);
              break;
            }
            case 'abort':
              given[one.pick % Math.max(1, given.length)]?.abort.abort('no more');
              break;
            case 'tables':
              writer.transport.tables = {
                t: Object.fromEntries(one.named.map((named) => [named, 'a:1'])),
              };
              break;
            case 'flush':
              flushes += 1;
              void writer.core.flush().then(() => {
                flushed += 1;
              });
          }
          await writer.turns();
          check();
        }
        writer.transport.onPut = (sent) => take(sent);
        for (const sent of writer.flying) take(sent);
        await writer.advance(4000);
        for (const sent of late) server.arrive(sent);

        expect(given.map(({ fate }) => fate.times)).toEqual(given.map(() => 1));
        expect(flushed).toBe(flushes);
        const { records, bufferedBytes, waiting, inFlight } = writer.core.stats();
        expect({ records, bufferedBytes, waiting, inFlight }).toEqual({
          records: 0,
          bufferedBytes: 0,
          waiting: 0,
          inFlight: 0,
        });
        expect(writer.watching).toBe(0);
        const sentNumbers = writer.sent.map(({ number }) => number);
        expect(sentNumbers).toEqual([...sentNumbers].sort((a, b) => a - b));
        for (let b = 0; b < BUCKETS; b += 1) {
          const log = server.log(b);
          const mine = given.filter((one) => one.bucket === b);
          let newest = -1;
          for (const { fate } of mine) {
            const at = log.lastIndexOf(fate.key);
            if (fate.settled === 'resolved') {
              expect(at, `${fate.key} is acknowledged`).toBeGreaterThan(newest);
            }
            if (at > newest) newest = at;
            else if (at >= 0) expect(fate.settled).toBe('rejected');
          }
        }
        await Promise.all([writer.core.close(0), writer.turns()]);
        expect(writer.time.pendingTimers).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});

describe('an attempt that arrives long after it was given up', () => {
  const late = async (isFenced: boolean): Promise<readonly string[]> => {
    const writer = new WriterUnderTest({ lingerMs: 0 });
    const server = new PlayedServer(isFenced);
    writer.put('old', { bucket: 0 });
    await writer.turns();
    const [first] = writer.sent as [Sent];
    first.end({ kind: 'lost', error: new Error('the connection broke') });
    await writer.advance(50);
    const take = (sent: Sent | undefined): void => {
      if (sent !== undefined) sent.answer({ errorCode: 0, logEndOffset: server.arrive(sent) });
    };
    take(writer.sent[1]);
    await writer.turns();
    writer.put('new', { bucket: 0 });
    await writer.turns();
    take(writer.sent[2]);
    await writer.turns();
    server.arrive(first);
    return server.log(0);
  };

  it('is refused by its number', async () => {
    expect(await late(true)).toEqual(['old', 'new']);
  });

  it('would undo an acknowledged write, were it not', async () => {
    expect(await late(false)).toEqual(['old', 'new', 'old']);
  });
});
