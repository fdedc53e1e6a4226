import { describe, expect, it } from 'vitest';
import { LogCorruptError, LogFailedError, LogFullError } from '../../../src/shared/kv-errors.js';
import { batch, LogUnderTest } from './log-under-test.js';

const damage = (under: LogUnderTest, at: number, path = under.last): void => {
  const { bytes } = under.files.file(path);
  bytes[at] = (bytes[at] as number) ^ 0xff;
};

describe('the log', () => {
  it('finds what was appended, in order, whichever segment it is in', () => {
    const under = new LogUnderTest(200);
    for (let i = 0; i < 20; i += 1) {
      under.append(batch('t/0', i * 2, `a${i}`, `b${i}`), batch('t/1', i, `c${i}`));
    }
    expect(under.store.segments).toBeGreaterThan(5);
    const expected = Array.from({ length: 20 }, (_, i) => [
      `t/0@${i * 2}:a${i},b${i}`,
      `t/1@${i}:c${i}`,
    ]).flat();
    under.store.close();
    expect(under.files.handles).toBe(0);
    under.open();
    expect(under.found).toEqual(expected);
    expect(under.cuts).toEqual([]);
    under.append(batch('t/0', 40, 'more'));
    under.open();
    expect(under.found).toEqual([...expected, 't/0@40:more']);
  });

  it('removes segments that no tablet needs, oldest first, never the last', () => {
    const under = new LogUnderTest(1);
    for (let i = 0; i < 4; i += 1) under.append(batch('t/0', i, `a${i}`), batch('t/1', i, `b${i}`));
    expect(under.store.segments).toBe(4);
    expect(under.store.holders).toEqual(['t/0', 't/1']);
    under.store.release('t/0', 4);
    expect(under.store.segments).toBe(4);
    expect(under.store.holders).toEqual(['t/1']);
    under.store.release('t/1', 2);
    expect(under.store.segments).toBe(2);
    under.store.release('t/1', 4);
    expect(under.store.segments).toBe(1);
    under.open();
    expect(under.found).toEqual(['t/0@3:a3', 't/1@3:b3']);
  });
});

describe('a damaged tail', () => {
  it('is cut wherever the last group is cut off, and reported; the log goes on', () => {
    const whole = new LogUnderTest();
    whole.append(batch('t/0', 0, 'first'));
    const good = whole.store.bytes;
    whole.append(batch('t/0', 1, 'second', 'third'));
    const image = whole.files.file(whole.last).bytes;
    for (let length = good; length < image.length; length += 1) {
      const under = new LogUnderTest();
      under.files.file(under.last).bytes = Buffer.from(image.subarray(0, length));
      under.open();
      expect(under.found).toEqual(['t/0@0:first']);
      expect(under.cuts.map(({ offset, bytes }) => [offset, bytes])).toEqual(
        length === good ? [] : [[good, length - good]],
      );
      under.append(batch('t/0', 1, 'again'));
      under.open();
      expect(under.found).toEqual(['t/0@0:first', 't/0@1:again']);
      expect(under.cuts).toEqual([]);
    }
  });

  it('is cut when a byte of the last group is wrong, or zeros follow it', () => {
    for (const spoil of [
      (under: LogUnderTest, good: number) => damage(under, good + 40),
      (under: LogUnderTest, good: number) => damage(under, good),
    ]) {
      const under = new LogUnderTest();
      under.append(batch('t/0', 0, 'first'));
      const good = under.store.bytes;
      under.append(batch('t/0', 1, 'second'));
      spoil(under, good);
      under.open();
      expect(under.found).toEqual(['t/0@0:first']);
      expect(under.cuts).toHaveLength(1);
    }
    const under = new LogUnderTest();
    under.append(batch('t/0', 0, 'first'));
    const file = under.files.file(under.last);
    file.bytes = Buffer.concat([file.bytes, Buffer.alloc(4096)]);
    under.open();
    expect(under.found).toEqual(['t/0@0:first']);
    expect(under.cuts.map(({ bytes }) => bytes)).toEqual([4096]);
  });

  it('of a segment that was only just begun is no loss', () => {
    const under = new LogUnderTest(1);
    under.append(batch('t/0', 0, 'first'));
    under.append(batch('t/0', 1, 'second'));
    for (const length of [0, 7, 31]) {
      const file = under.files.file(under.last);
      file.bytes = Buffer.from(file.bytes.subarray(0, length));
      under.open();
      expect(under.found).toEqual(['t/0@0:first']);
      under.append(batch('t/0', 1, 'second'));
      under.open();
      expect(under.found).toEqual(['t/0@0:first', 't/0@1:second']);
    }
  });
});

describe('damage before the tail', () => {
  it('is refused wherever it is, with file and offset, and nothing is changed', () => {
    const whole = new LogUnderTest();
    whole.append(batch('t/0', 0, 'first'));
    const end = whole.store.bytes;
    whole.append(batch('t/0', 1, 'second'));
    for (let at = 0; at < end; at += 1) {
      damage(whole, at);
      const before = Buffer.from(whole.files.file(whole.last).bytes);
      const { writes } = whole.files;
      let error: unknown;
      try {
        whole.open();
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(LogCorruptError);
      expect((error as LogCorruptError).offset).toBe(at < 32 ? 0 : 32);
      expect((error as LogCorruptError).file).toContain(whole.last);
      expect(whole.files.file(whole.last).bytes.equals(before)).toBe(true);
      expect(whole.files.writes).toBe(writes);
      damage(whole, at);
    }
    whole.open();
    expect(whole.found).toHaveLength(2);
  });

  it('of the last group is refused, too, once the log was closed', () => {
    const under = new LogUnderTest();
    under.append(batch('t/0', 0, 'first'));
    under.store.close();
    damage(under, 60);
    expect(() => under.open()).toThrow(LogCorruptError);
  });

  it('of an earlier segment, a short one or a missing one is refused', () => {
    const begin = (): LogUnderTest => {
      const under = new LogUnderTest(1);
      for (let i = 0; i < 3; i += 1) under.append(batch('t/0', i, `v${i}`));
      return under;
    };
    const names = [...begin().files.files.keys()].sort();
    const damaged = begin();
    damage(damaged, 60, names[0]);
    expect(() => damaged.open()).toThrow('what follows had been acknowledged');
    const short = begin();
    const file = short.files.file(names[1] as string);
    file.bytes = file.bytes.subarray(0, file.bytes.length - 1);
    expect(() => short.open()).toThrow(LogCorruptError);
    const missing = begin();
    missing.files.remove(names[1] as string);
    expect(() => missing.open()).toThrow('the log misses what comes before');
  });
});

describe('a full disk', () => {
  it.each([0, 1, 31, 32, 40, 90])(
    'after %s bytes keeps nothing of the group, and the log goes on',
    (room) => {
      const under = new LogUnderTest();
      under.append(batch('t/0', 0, 'first'));
      under.files.roomBytes = room;
      expect(() => under.append(batch('t/0', 1, 'x'.repeat(100)))).toThrow(LogFullError);
      under.files.roomBytes = 1e6;
      under.append(batch('t/0', 101, 'later'));
      under.open();
      expect(under.found).toEqual(['t/0@0:first', 't/0@101:later']);
      expect(under.cuts).toEqual([]);
    },
  );

  it('that tells at the sync is the same', () => {
    const under = new LogUnderTest();
    under.files.syncError = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    expect(() => under.append(batch('t/0', 0, 'first'))).toThrow(LogFullError);
    under.append(batch('t/0', 1, 'later'));
    under.open();
    expect(under.found).toEqual(['t/0@1:later']);
  });

  it('that leaves no room for a new segment keeps the old one going', () => {
    const under = new LogUnderTest(1);
    under.append(batch('t/0', 0, 'first'));
    under.files.roomBytes = 10;
    expect(() => under.append(batch('t/0', 1, 'second'))).toThrow(LogFullError);
    expect(under.files.files.size).toBe(1);
    under.files.roomBytes = 1e6;
    under.append(batch('t/0', 1, 'second'));
    under.open();
    expect(under.found).toEqual(['t/0@0:first', 't/0@1:second']);
  });
});

it('a sync that fails for any other reason ends the log: what is on disk is not known', () => {
  const under = new LogUnderTest();
  under.append(batch('t/0', 0, 'first'));
  under.files.syncError = Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
  expect(() => under.append(batch('t/0', 1, 'second'))).toThrow(LogFailedError);
  expect(() => under.append(batch('t/0', 2, 'third'))).toThrow('EIO');
  under.store.close();
  under.open();
  expect(under.found[0]).toBe('t/0@0:first');
});
