import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventStreams } from '../../../src/adapters/admin/event-streams.js';
import { fakeSource } from './fake-source.js';
import { type FakeClient, fakeClient, lastIdOf, recordsOf } from './stream-client.js';

/** What happens to three clients: events, seconds, cuts (all that a client had not read is lost with them), returns. */
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('event' as const) }),
    fc.record({ kind: fc.constant('second' as const) }),
    fc.record({ kind: fc.constant('stall' as const), who: fc.nat(2) }),
    fc.record({ kind: fc.constant('cut' as const), who: fc.nat(2), keep: fc.nat(4000) }),
    fc.record({ kind: fc.constant('return' as const), who: fc.nat(2) }),
  ),
  { maxLength: 80 },
);

it('every client gets each event once and in order, however often it is cut off', () => {
  fc.assert(
    fc.property(steps, (course) => {
      const source = fakeSource();
      let tick = (): void => undefined;
      const streams = new EventStreams(
        source,
        { maxStreams: 3, maxPendingBytes: 3000 },
        (_ms, run) => {
          tick = run;
          return () => {
            tick = () => undefined;
          };
        },
      );
      const clients = [0, 1, 2].map(() => ({
        seen: [] as number[],
        lastId: '0',
        now: undefined as { client: FakeClient; end: () => void } | undefined,
      }));
      /** The connection breaks after the first `keep` characters that have arrived. */
      const cut = (who: number, keep: number): void => {
        const one = clients[who];
        if (one?.now === undefined) return;
        const text = one.now.client.text().slice(0, keep);
        one.seen.push(...recordsOf(text).map(({ seq }) => seq));
        one.lastId = lastIdOf(text) ?? one.lastId;
        one.now.end();
        one.now = undefined;
      };
      const comeBack = (who: number): void => {
        const one = clients[who];
        if (one === undefined || (one.now !== undefined && one.now.client.ending === '')) return;
        cut(who, Number.POSITIVE_INFINITY);
        const client = fakeClient();
        const end = streams.open(client, Number(one.lastId));
        if (end === undefined) throw new Error('there is no room');
        one.now = { client, end };
      };
      for (const step of course) {
        if (step.kind === 'event') source.happen(1);
        if (step.kind === 'second') tick();
        if (step.kind === 'stall') clients[step.who]?.now?.client.stall();
        if (step.kind === 'cut') cut(step.who, step.keep);
        if (step.kind === 'return') comeBack(step.who);
      }
      const all = source.recordedEvents(0).map(({ seq }) => seq);
      for (const who of [0, 1, 2]) {
        cut(who, Number.POSITIVE_INFINITY);
        comeBack(who);
        cut(who, Number.POSITIVE_INFINITY);
        expect(clients[who]?.seen).toEqual(all);
      }
      expect([streams.count, source.listening]).toEqual([0, 0]);
    }),
  );
});
