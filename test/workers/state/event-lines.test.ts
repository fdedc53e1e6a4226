import { describe, expect, it } from 'vitest';
import type { ControlEvent } from '../../../src/workers/runtime-events.js';
import { eventLines } from '../../../src/workers/state/event-lines.js';
import { sampleEvents, throttleChange } from './sample-events.js';

const shown = (event: ControlEvent): string[] =>
  eventLines(event).map(({ subject, level, message }) => `${subject} | ${level} | ${message}`);

describe('the lines of events', () => {
  it('say for each kind of event how severe it is, what it is about, and what happened', () => {
    expect(sampleEvents().flatMap(shown)).toEqual([
      'rpc write | warn | write: 1 table slowed, 2 upgrades in force (412 BUSY in 3000 ms)',
      'rpc write | info | write: 1 table relaxed, 2 upgrades in force (quiet for 3000 ms)',
      'rpc write | info | write: 1 table freed, 0 upgrades in force (switched off)',
      "circuit-open | warn | circuit of '10.0.0.7:5000' open (3 failures), next try in 30000 ms",
      "circuit-half-open | debug | circuit of '10.0.0.7:5000': one call tries it",
      "circuit-closed | info | circuit of '10.0.0.7:5000' closed (probed)",
      'config | info | configuration 2 in force',
      'thread-attached | debug | thread 7 attached',
      'thread-ended | debug | thread 7 ended',
      'control-restart | error | control thread restarted',
      'kernel-fallback | warn | no shared WebAssembly memory: the slower kernel is in use',
      'directory-full | warn | no room for more pairs: 12 calls went uncounted',
      'addresses-full | warn | no room for more addresses: 4 failures not counted',
      'ring-drops | warn | the control thread does not keep up: 9 records lost',
      'rpc read | warn | read: 250 calls refused by the host-level limit',
      'closed | info | runtime closed',
    ]);
  });

  it('speak of each RPC type for itself', () => {
    const event = throttleChange(['write', 'commit'], 12);
    const lines = eventLines({ name: 'upgrade', event });
    expect(lines.map(({ subject, fields }) => [subject, fields['tables']])).toEqual([
      ['rpc write', 12],
      ['rpc commit', 12],
    ]);
    expect(lines[1]?.fields).toEqual({
      event: 'upgrade',
      rpc: 'commit',
      upgrades: 2,
      reason: '412 BUSY in 3000 ms',
      tables: 12,
      pairs: event.changes
        .slice(12, 22)
        .map(({ table, before, after }) => ({ table, before, after })),
    });
  });

  it('say so when there was nothing to change', () => {
    const event = throttleChange([]);
    expect(shown({ name: 'upgrade', event })).toEqual([
      'upgrade | warn | no table was fast enough to be slowed (412 BUSY in 3000 ms)',
    ]);
  });

  it('say why a circuit is open', () => {
    const event = { address: 'a:1', failures: 2, retryAfterMs: 99.6, atMs: 0 };
    const said = (reason: 'by-hand' | 'probe-failed' | 'probe-lost') =>
      shown({ name: 'circuit-open', event: { ...event, reason } })[0]?.split(' | ')[2];
    expect(said('by-hand')).toBe("circuit of 'a:1' open by hand, until it is closed");
    expect(said('probe-failed')).toBe("circuit of 'a:1' open (probe failed), next try in 100 ms");
    expect(said('probe-lost')).toBe("circuit of 'a:1' open (probe lost), next try in 100 ms");
  });

  it("use no field that is the logger's own", () => {
    const own = ['level', 'time', 'msg', 'message', 'pid', 'hostname', 'name', 'err'];
    const fields = sampleEvents().flatMap((event) =>
      eventLines(event).flatMap((line) => Object.keys(line.fields)),
    );
    expect(fields.filter((field) => own.includes(field))).toEqual([]);
    expect(fields).toContain('event');
  });

  it('break no line and stay short, whatever an address is called', () => {
    const address = `a\nb\u2028\u001b[31m${'x'.repeat(10_000)}`;
    const event = { address, reason: 'failures', failures: 3, retryAfterMs: 1, atMs: 0 } as const;
    const [line] = eventLines({ name: 'circuit-open', event });
    expect(line?.message.length).toBeLessThan(200);
    expect(line?.message).not.toMatch(/\p{Cc}/u);
    expect(line?.fields['address']).toBe(address);
  });
});
