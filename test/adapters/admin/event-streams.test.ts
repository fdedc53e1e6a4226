import { beforeEach, describe, expect, it } from 'vitest';
import { EventStreams } from '../../../src/adapters/admin/event-streams.js';
import type { RecordedEvent, ThrottleRecord } from '../../../src/workers/state/runtime-state.js';
import { type FakeSource, fakeSource } from './fake-source.js';
import { fakeClient, framesOf, lastIdOf, recordsOf, statesOf } from './stream-client.js';

const BOUNDS = { maxStreams: 3, maxPendingBytes: 10_000 };

let source: FakeSource;
let streams: EventStreams;
/** Of the one timer, when it runs. */
let timer: { ms: number; tick: () => void } | undefined;
let reads: number;
beforeEach(() => {
  source = fakeSource();
  timer = undefined;
  reads = 0;
  const counted = {
    ...source,
    state: () => {
      reads += 1;
      return source.state();
    },
  };
  streams = new EventStreams(counted, BOUNDS, (ms, tick) => {
    expect(timer).toBeUndefined();
    timer = { ms, tick };
    return () => {
      timer = undefined;
    };
  });
});

const happen = (version: number) => source.happen(version);
/** Changes of limits up to this one are in its state. */
const changed = (seq: number) => {
  const history = Array.from({ length: seq }, (_, i) => ({ seq: i + 1 }) as ThrottleRecord);
  source.shown = { ...source.shown, history };
};
const seqs = (text: string) => recordsOf(text).map(({ seq }) => seq);

describe('a new stream', () => {
  it('gets the whole state, then what happens, once and in order', () => {
    happen(1);
    happen(2);
    const client = fakeClient();
    streams.open(client, undefined);
    happen(3);
    happen(4);
    expect(client.text().startsWith('retry: 1000\n\n')).toBe(true);
    const [first] = framesOf(client.text());
    expect(first).toMatchObject({ event: 'state', id: '2' });
    expect(statesOf(client.text())[0]?.events.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(seqs(client.text())).toEqual([3, 4]);
    expect(recordsOf(client.text())[0]).toEqual({
      seq: 3,
      atMs: 7,
      name: 'config',
      event: { version: 3 },
    });
  });

  it('can be taken up again though nothing has happened while it was open', () => {
    const client = fakeClient();
    const left = streams.open(client, undefined);
    expect(lastIdOf(client.text())).toBe('0');
    left?.();
    happen(1);
    const again = fakeClient();
    streams.open(again, Number(lastIdOf(client.text())));
    expect(seqs(again.text())).toEqual([1]);
  });
});

describe('a stream that is taken up again', () => {
  it('gets what it has missed before what is new, and a place in the order that never skips', () => {
    for (const version of [1, 2, 3]) happen(version);
    const client = fakeClient();
    streams.open(client, 1);
    happen(4);
    expect(seqs(client.text())).toEqual([2, 3, 4]);
    // Were it cut off after the state, it would come again for all of them.
    expect(framesOf(client.text()).map(({ id }) => id)).toEqual([undefined, '2', '3', '4']);
  });

  it('gets nothing twice, and nothing too late, of a source that tells late or not at all', () => {
    let tell = (_event: RecordedEvent): void => undefined;
    const late = {
      ...source,
      onRecorded: (listener: typeof tell) => {
        tell = listener;
        return () => undefined;
      },
    };
    const client = fakeClient();
    for (const version of [1, 2]) happen(version);
    new EventStreams(late, BOUNDS, () => () => undefined).open(client, 0);
    for (const version of [3, 4]) happen(version);
    const [, second, , fourth] = source.recordedEvents(0);
    for (const event of [second, fourth, fourth]) tell(event as RecordedEvent);
    expect(seqs(client.text())).toEqual([1, 2, 3, 4]);
  });

  it('gets everything when its place is of an earlier life of the process', () => {
    happen(1);
    const client = fakeClient();
    streams.open(client, 900);
    expect(seqs(client.text())).toEqual([1]);
  });

  it('gets what is still kept when it was away for too long', () => {
    for (let version = 1; version <= 1500; version += 1) happen(version);
    const client = fakeClient();
    streams.open(client, 10);
    expect(seqs(client.text())).toEqual(Array.from({ length: 1000 }, (_, i) => 501 + i));
  });
});

describe('once a second', () => {
  it('all streams get the state, read and put into words once, without what they have', () => {
    changed(1);
    const clients = [fakeClient(), fakeClient(), fakeClient()];
    for (const client of clients) streams.open(client, undefined);
    expect(timer?.ms).toBe(1000);
    expect(reads).toBe(3);
    source.shown = { atMs: 7000 };
    changed(2);
    timer?.tick();
    timer?.tick();
    expect(reads).toBe(5);
    for (const client of clients) {
      const [whole, next, last] = statesOf(client.text());
      expect(whole?.history.map(({ seq }) => seq)).toEqual([1]);
      expect(next).toMatchObject({ events: [], atMs: 7000 });
      expect(next?.history.map(({ seq }) => seq)).toEqual([2]);
      expect(last).toMatchObject({ events: [], history: [] });
    }
  });

  it('goes on with a comment every 15 s, so that proxies do not take it for dead', () => {
    const client = fakeClient();
    streams.open(client, undefined);
    for (let second = 0; second < 30; second += 1) timer?.tick();
    expect(client.text().match(/^:$/gm)).toHaveLength(2);
  });

  const noJson = { stores: [{ name: 'orders', tables: [], logBytes: 5n }] as never };

  it('does not open when the state is no JSON, and leaves nothing behind', () => {
    source.shown = noJson;
    expect(() => streams.open(fakeClient(), undefined)).toThrow(TypeError);
    expect([streams.count, source.listening, timer]).toEqual([0, 0, undefined]);
  });

  it('ends the streams when the state is no JSON any more', () => {
    const client = fakeClient();
    streams.open(client, undefined);
    source.shown = noJson;
    timer?.tick();
    expect([streams.count, source.listening, timer]).toEqual([0, 0, undefined]);
  });

  it('ends the streams when the state cannot be read, and nothing else', () => {
    const client = fakeClient();
    streams.open(client, undefined);
    source.state = () => {
      throw new Error('a store is gone');
    };
    timer?.tick();
    expect(client.ending).toBe('ended');
    expect(timer).toBeUndefined();
  });
});

describe('bounds', () => {
  it('no more streams than there is room for', () => {
    const ends = [1, 2, 3].map(() => streams.open(fakeClient(), undefined));
    expect(streams.open(fakeClient(), undefined)).toBeUndefined();
    ends[0]?.();
    ends[0]?.();
    expect(streams.open(fakeClient(), undefined)).toBeDefined();
    expect(streams.open(fakeClient(), undefined)).toBeUndefined();
  });

  it('drops who does not read, and tells the others', () => {
    const [slow, good] = [fakeClient(), fakeClient()];
    streams.open(slow, undefined);
    streams.open(good, undefined);
    slow.stall();
    let most = 0;
    for (let version = 1; slow.ending === ''; version += 1) {
      expect(version).toBeLessThan(1000);
      happen(version);
      most = Math.max(most, slow.pendingBytes());
    }
    expect(slow.ending).toBe('dropped');
    expect(most).toBeGreaterThan(BOUNDS.maxPendingBytes);
    expect(most).toBeLessThan(BOUNDS.maxPendingBytes + 200);
    happen(0);
    expect(good.ending).toBe('');
    expect(seqs(good.text())).toHaveLength(source.recordedEvents(0).length);
    expect(streams.count).toBe(1);
  });

  it('drops who does not read when nothing happens either', () => {
    const slow = fakeClient();
    streams.open(slow, undefined);
    slow.stall();
    for (let second = 0; second < 60; second += 1) timer?.tick();
    expect(slow.ending).toBe('dropped');
    expect(timer).toBeUndefined();
  });
});

describe('the end', () => {
  it('has no timer and listens to nobody while no stream is open', () => {
    expect(source.listening).toBe(0);
    const ends = [1, 2].map(() => streams.open(fakeClient(), undefined));
    expect([timer !== undefined, source.listening]).toEqual([true, 1]);
    ends[0]?.();
    expect([timer !== undefined, source.listening]).toEqual([true, 1]);
    ends[1]?.();
    expect([timer !== undefined, source.listening]).toEqual([false, 0]);
    const client = fakeClient();
    streams.open(client, undefined);
    happen(1);
    expect(seqs(client.text())).toEqual([1]);
  });

  it('ends all streams when it closes, and takes no more', () => {
    const clients = [fakeClient(), fakeClient()];
    const ends = clients.map((client) => streams.open(client, undefined));
    streams.close();
    streams.close();
    ends[0]?.();
    expect(clients.map(({ ending }) => ending)).toEqual(['ended', 'ended']);
    expect([timer !== undefined, source.listening, streams.count]).toEqual([false, 0, 0]);
    expect(streams.open(fakeClient(), undefined)).toBeUndefined();
    happen(1);
  });
});
