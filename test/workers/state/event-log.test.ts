import { describe, expect, it, vi } from 'vitest';
import type { ControlEvent } from '../../../src/workers/runtime-events.js';
import { EventLog, MAX_RECORDED_PAIRS } from '../../../src/workers/state/event-log.js';
import type { RecordedEvent } from '../../../src/workers/state/runtime-state.js';

const changed = (version: number): ControlEvent => ({ name: 'config', event: { version } });

function filled(events: number): EventLog {
  const log = new EventLog();
  for (let i = 1; i <= events; i += 1) log.record(changed(i), i * 100);
  return log;
}

const seqs = (events: readonly RecordedEvent[]): number[] => events.map(({ seq }) => seq);

describe('the log of events', () => {
  it('numbers events from 1 and times them', () => {
    expect(filled(2).since(0)).toEqual([
      { seq: 1, atMs: 100, name: 'config', event: { version: 1 } },
      { seq: 2, atMs: 200, name: 'config', event: { version: 2 } },
    ]);
  });

  it('keeps the newest 1000, in order, however many there were', () => {
    const log = filled(12_345);
    const kept = seqs(log.since(0));
    expect(kept).toHaveLength(1000);
    expect([kept[0], kept.at(-1)]).toEqual([11_346, 12_345]);
    expect(kept).toEqual(kept.toSorted((a, b) => a - b));
  });

  it('gives those after a number: none when it is the newest, or not yet given', () => {
    const log = filled(1500);
    expect(seqs(log.since(1497))).toEqual([1498, 1499, 1500]);
    expect(log.since(1500)).toEqual([]);
    expect(log.since(9999)).toEqual([]);
    expect(log.since(3)).toHaveLength(1000);
    expect(new EventLog().since(0)).toEqual([]);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3' as never, null as never])(
    'refuses %s for a number',
    (seq) => {
      expect(() => filled(1).since(seq)).toThrow(/^sinceSeq must be an integer >= 0, got /);
    },
  );

  it('is changed by nobody who reads it, or is told', () => {
    const log = new EventLog();
    const seen: RecordedEvent[] = [];
    log.listen((event) => void seen.push(event));
    const event = { version: 1, inner: [{ deep: 1 }] };
    log.record({ name: 'config', event } as ControlEvent, 1);
    seen.push(...log.since(0));
    for (const one of seen) {
      for (const part of [one, event, event.inner, event.inner[0]])
        expect(() => Object.assign(part as object, { version: 5n })).toThrow(TypeError);
    }
    expect(seen.map((one) => one.event)).toEqual([event, event]);
  });

  it('tells each listener of each event, until it leaves', () => {
    const log = new EventLog();
    const heard: number[] = [];
    const listener = ({ seq }: RecordedEvent): void => void heard.push(seq);
    const leave = log.listen(listener);
    const leaveToo = log.listen(listener);
    log.record(changed(1), 0);
    leave();
    leave();
    log.record(changed(2), 0);
    leaveToo();
    log.record(changed(3), 0);
    expect(heard).toEqual([1, 1, 2]);
    expect(() => log.listen(undefined as never)).toThrow(
      'listener must be a function, got undefined',
    );
  });

  it('names a bounded number of pairs in one record', () => {
    const pairs = Array.from({ length: 5000 }, (_, i) => ({ rpc: 'a', table: String(i) }));
    const actions = pairs.map((pair) => ({
      type: 'set_limit' as const,
      ...pair,
      qpsLimit: 1,
      resetReservation: false,
    }));
    const changes = pairs.map((pair) => ({ ...pair, before: null, after: 1, qps: 2 }));
    const reason = { kind: 'busy', count: 1, overMs: 3000 } as const;
    const event = { level: 1, atMs: 5, actions, changes, changed: 5000, reason };
    const log = new EventLog();
    log.record({ name: 'upgrade', event }, 7);
    const [record] = log.since(0);
    expect(record).toEqual({
      seq: 1,
      atMs: 7,
      name: 'upgrade',
      event: {
        ...event,
        actions: actions.slice(0, MAX_RECORDED_PAIRS),
        changes: changes.slice(0, MAX_RECORDED_PAIRS),
      },
    });
    expect(event.changes).toHaveLength(5000);
  });

  it('lets a listener that throws harm neither the others nor whoever tells', () => {
    vi.useFakeTimers({ toFake: ['setImmediate'] });
    try {
      const log = new EventLog();
      const heard: number[] = [];
      log.listen(() => {
        throw new Error('mine');
      });
      log.listen(({ seq }) => heard.push(seq));
      log.record(changed(1), 0);
      expect(heard).toEqual([1]);
      expect(() => vi.runAllTimers()).toThrow('mine');
    } finally {
      vi.useRealTimers();
    }
  });
});
