import { expect, it } from 'vitest';
import { EventLog } from '../../../src/workers/state/event-log.js';
import { readState, type StateOptions } from '../../../src/workers/state/state-reader.js';
import { ThrottleHistory } from '../../../src/workers/state/throttle-history.js';
import { snapshotSample } from '../../adapters/snapshot-sample.js';

const limits = [40, 10, 20].map((qpsLimit) => ({
  rpc: 'get',
  table: `at ${qpsLimit}`,
  qpsLimit,
  currentQps: 100,
  sinceMs: 0,
}));

function read(options: StateOptions) {
  const { throttled, throttledTotal, runtime } = readState(
    {
      runtimeId: 'one',
      backendId: null,
      startedAt: new Date(0),
      snapshot: snapshotSample({ limits }),
      events: new EventLog(),
      history: new ThrottleHistory(),
    },
    options,
  );
  const tables = (pairs: readonly { readonly table: string }[] = []) =>
    pairs.map(({ table }) => table);
  return { slowed: tables(throttled), limits: tables(runtime?.limits), throttledTotal };
}

it('lists the most severely slowed pairs, and how many there are', () => {
  const all = ['at 10', 'at 20', 'at 40'];
  expect(read({})).toEqual({
    slowed: all,
    limits: limits.map(({ table }) => table),
    throttledTotal: 3,
  });
  expect(read({ maxPairs: 2 })).toEqual({
    slowed: all.slice(0, 2),
    limits: ['at 10', 'at 20'],
    throttledTotal: 3,
  });
  expect(read({ maxPairs: 0 })).toEqual({ slowed: [], limits: [], throttledTotal: 3 });
});

it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '7' as never])(
  'refuses %s pairs',
  (maxPairs) => {
    expect(() => read({ maxPairs })).toThrow(/^maxPairs must be an integer >= 0, got /);
  },
);

it.each([
  [null, /^options must be an object, got null/],
  [{ maxPair: 1 }, /^maxPair is no option, there are stores, maxPairs/],
  [{ stores: null }, /^stores must be an object of stores by name, got null/],
  [{ stores: { orders: {} } }, /^stores\.orders must be a key-value store, got/],
  [{ stores: { orders: null } }, /^stores\.orders must be a key-value store, got null/],
])('refuses the options %j', (options, message) => {
  expect(() => read(options as never)).toThrow(message);
});
