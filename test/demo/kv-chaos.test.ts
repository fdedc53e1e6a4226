import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatchGroups, batchKeys } from '../../demo/kv-chaos/batch-groups.js';
import { parseChaosOptions } from '../../demo/kv-chaos/chaos-options.js';
import { PutSequence } from '../../demo/kv-chaos/put-sequence.js';

describe('parseChaosOptions', () => {
  it('has the defaults of the guide, and a seed by the clock', () => {
    expect(parseChaosOptions([], 2 ** 32 + 5.5)).toEqual({
      kills: 30,
      seed: 5,
      logMb: 100,
      quiet: false,
      help: false,
    });
  });

  it.each([
    ['--kills 0', "--kills must be an integer from 1 to 10000, got '0'"],
    ['--kills 1.5', "--kills must be an integer from 1 to 10000, got '1.5'"],
    ['--seed=-1', "--seed must be an integer from 0 to 4294967295, got '-1'"],
    ['--log-mb x', "--log-mb must be an integer from 1 to 2000, got 'x'"],
    ['--nope', "Unknown option '--nope'"],
  ])('refuses %s', (args, message) => {
    expect(() => parseChaosOptions(args.split(' '), 0)).toThrow(message);
  });
});

describe('a sequence of puts', () => {
  const KEYS = 4;
  /** `sent` puts of which the first `acknowledged` are. */
  const sequenceOf = (sent: number, acknowledged: number): PutSequence => {
    const sequence = new PutSequence(KEYS);
    for (let i = 0; i < sent; i += 1) sequence.send();
    // In whatever order: answers of several calls may come in any.
    for (let number = acknowledged; number >= 1; number -= 1) sequence.acknowledge(number);
    return sequence;
  };
  /** A bucket that has taken these puts, in this order. */
  const bucketWith = (numbers: readonly number[]): number[] => {
    const found = Array.from({ length: KEYS }, () => 0);
    for (const number of numbers) found[number % KEYS] = number;
    return found;
  };
  const upTo = (m: number) => Array.from({ length: m }, (_, i) => i + 1);
  const nothing = { lost: 0, reordered: 0, unknown: 0 };

  it('is whole where the bucket has the first of it, from the last acknowledged on', () => {
    fc.assert(
      fc.property(fc.nat(30), fc.nat(30), fc.nat(30), (sent, a, b) => {
        const acknowledged = Math.min(a, sent);
        const taken = Math.min(acknowledged + b, sent);
        const sequence = sequenceOf(sent, acknowledged);
        expect(sequence.acknowledged).toBe(acknowledged);
        expect(sequence.check(bucketWith(upTo(taken)))).toEqual(nothing);
      }),
    );
  });

  it('shows every put that is missing although a later one is there', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 30 }), fc.nat(30), fc.nat(), (sent, a, which) => {
        const acknowledged = Math.min(a, sent);
        // Of the newest of each key but the last: an older one would be overwritten anyway.
        const hidden = sent - 1 - (which % Math.min(KEYS - 1, sent - 1));
        const found = bucketWith(upTo(sent).filter((number) => number !== hidden));
        const { lost, reordered } = sequenceOf(sent, acknowledged).check(found);
        expect([lost, reordered]).toEqual(hidden <= acknowledged ? [1, 0] : [0, 1]);
      }),
    );
  });

  it('shows what was acknowledged and is not there', () => {
    const sequence = sequenceOf(9, 7);
    expect(sequence.check(bucketWith(upTo(5)))).toEqual({ ...nothing, lost: 2 });
    sequence.acknowledge(9);
    expect(sequence.acknowledged).toBe(7);
    expect(sequence.check(bucketWith(upTo(8)))).toEqual({ ...nothing, lost: 1 });
  });

  it('shows what nobody sent', () => {
    expect(sequenceOf(3, 3).check(bucketWith(upTo(4))).unknown).toBe(1);
    expect(sequenceOf(3, 3).check([Number.POSITIVE_INFINITY, 1, 2, 3]).unknown).toBeGreaterThan(0);
  });
});

describe('batches', () => {
  const all = (number: number): number[] => Array.from({ length: batchKeys }, () => number);
  const groups = new BatchGroups(2);
  for (let i = 0; i < 4; i += 1) groups.send();
  groups.acknowledge(1);
  groups.acknowledge(2);

  it.each([
    [[all(2), all(1)], { lost: 0, torn: 0, unknown: 0 }],
    [[all(4), all(3)], { lost: 0, torn: 0, unknown: 0 }],
    [[all(0), all(1)], { lost: 1, torn: 0, unknown: 0 }],
    [[[4, 4, 2, 4, 4], all(3)], { lost: 0, torn: 1, unknown: 0 }],
    [[[2, 2, 0, 2, 2], all(3)], { lost: 0, torn: 1, unknown: 0 }],
    [[all(6), all(3)], { lost: 0, torn: 0, unknown: 1 }],
    [[all(3), all(3)], { lost: 0, torn: 0, unknown: 1 }],
    [[all(2), []], { lost: 0, torn: 1, unknown: 0 }],
  ])('%j: %j', (found, finding) => {
    expect(groups.check(found)).toEqual(finding);
  });
});
