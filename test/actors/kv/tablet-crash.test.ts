import { describe, expect, it } from 'vitest';
import { put, TabletUnderTest, text } from './tablet-under-test.js';

interface Batch {
  readonly at: number;
  readonly records: readonly (readonly [key: string, value: string | null])[];
}

/** Overwrites, deletes and batches longer than a segment; every value is unique. */
const LOAD: readonly Batch[] = [
  {
    at: 0,
    records: [
      ['a', 'a1'],
      ['b', 'b1'],
      ['c', 'c1'],
    ],
  },
  { at: 1, records: [['a', 'a2']] },
  {
    at: 5,
    records: [
      ['b', null],
      ['d', 'd1'],
      ['a', 'a3'],
      ['e', 'e1'],
      ['f', 'f1'],
    ],
  },
  {
    at: 9,
    records: [
      ['b', 'b2'],
      ['a', null],
    ],
  },
  {
    at: 12,
    records: [
      ['a', 'a4'],
      ['c', 'c2'],
    ],
  },
];
const END_MS = 60;

/** Runs the load and lets the process die at `crashAtMs`; what had been acknowledged by then. */
async function runUntil(under: TabletUnderTest, crashAtMs: number): Promise<number> {
  let acknowledged = 0;
  for (const { at, records } of LOAD) {
    if (at > crashAtMs) break;
    await under.time.advanceToAsync(at);
    under.put(records.map(([key, value]) => put(key, value))).then(
      ({ code }) => {
        if (code === 0) acknowledged += 1;
      },
      () => {},
    );
  }
  await under.time.advanceToAsync(crashAtMs);
  const counted = acknowledged;
  under.crash();
  return counted;
}

function rowsAfter(batches: number): Map<string, string | null> {
  return new Map(LOAD.slice(0, batches).flatMap(({ records }) => records));
}

describe.each([
  { stalledUntilMs: 0, callMs: 3 },
  { stalledUntilMs: 20, callMs: 1 },
])('a process that dies (stalled until $stalledUntilMs ms, calls of $callMs ms)', (how) => {
  const steps = Array.from({ length: END_MS * 2 }, (_, i) => i / 2);

  it.each(steps)('at %s ms loses nothing acknowledged and applies nothing twice', async (at) => {
    const under = new TabletUnderTest({ segmentRecords: 2, minRetryMs: 4 }, { callMs: how.callMs });
    under.engine.sample = { l0Files: 0, stalled: how.stalledUntilMs > 0 };
    under.time.setTimer(how.stalledUntilMs, () => {
      under.engine.sample = { l0Files: 0, stalled: false };
    });
    const acknowledged = await runUntil(under, at);
    const durable = under.log.batches.length;
    expect(durable).toBeGreaterThanOrEqual(acknowledged);

    under.engine.sample = { l0Files: 0, stalled: false };
    under.start();
    const expected = rowsAfter(durable);
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    const rows = keys.map((key) => expected.get(key) ?? null);
    expect(await under.get(...keys)).toEqual(rows);
    await under.pass(200);
    expect(await under.get(...keys)).toEqual(rows);

    // Batches are whole, in order and once: the store took exactly the durable records, one after the other.
    const flat = LOAD.slice(0, durable).flatMap(({ records }) => records.map(([, value]) => value));
    const taken = under.engine.applied.flatMap(({ records }) =>
      records.map(({ value }) => text(value)),
    );
    expect(taken).toEqual(flat);
    expect(await under.status()).toMatchObject({ flushedUpTo: flat.length, nextLsn: flat.length });
  });
});
