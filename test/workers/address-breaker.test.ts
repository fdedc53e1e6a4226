import { beforeEach, describe, expect, it } from 'vitest';
import {
  CircuitOpenError,
  IllegalStateError,
  RuntimeClosedError,
} from '../../src/shared/errors.js';
import type { Gate } from '../../src/workers/gate.js';
import { createVirtualGates, type VirtualGates } from './virtual-gate.js';

const PEER = 'peer:5000';
let gates: VirtualGates;
let gate: Gate;
let other: Gate;

beforeEach(() => {
  gates = createVirtualGates({
    breaker: { cooldownMs: 1000, probeTimeoutMs: 500, maxAddresses: 4 },
  });
  gate = gates.gate();
  other = gates.gate();
});

const fail = (times: number, address = PEER): void => {
  for (let i = 0; i < times; i += 1) gate.breaker(address).admit().failure();
};

describe('gate.breaker(address)', () => {
  it('names the peer, however its address is spelled', () => {
    expect(gate.breaker('HTTP://Peer.:5000/x').address).toBe(PEER);
    expect(() => gate.breaker('')).toThrow(RangeError);
    expect(() => gate.breaker(undefined as never)).toThrow(TypeError);
  });

  it('opens after three failures, for every thread', () => {
    fail(3);
    expect(() => other.breaker(PEER).admit()).toThrow(CircuitOpenError);
    expect(other.breaker(PEER).state()).toEqual({
      state: 'open',
      isolated: false,
      consecutiveFailures: 0,
      retryAfterMs: 1000,
    });
  });

  it.each(['success', 'failure', 'ignored'] as const)(
    'refuses to settle a permit twice, first as %s',
    (outcome) => {
      const permit = gate.breaker(PEER).admit();
      permit[outcome]();
      for (const again of ['success', 'failure', 'ignored'] as const)
        expect(() => permit[again]()).toThrow(IllegalStateError);
    },
  );

  it('counts each permit, also those that were given at the same moment', () => {
    const breaker = gate.breaker(PEER);
    const permits = Array.from({ length: 3 }, () => breaker.admit());
    expect(new Set(permits).size).toBe(3);
    for (const permit of permits) permit.failure();
    expect(breaker.state().state).toBe('open');
  });

  it('gives one probe, which is lost at its deadline when nobody settles it', async () => {
    fail(3);
    await gates.time.advanceToAsync(1000);
    const lost = gate.breaker(PEER).admit();
    expect(lost.isProbe).toBe(true);
    expect(() => other.breaker(PEER).admit()).toThrow(CircuitOpenError);
    await gates.time.advanceToAsync(1500);
    const probe = other.breaker(PEER).admit();
    expect(probe.isProbe).toBe(true);
    lost.success();
    expect(gate.breaker(PEER).state().state).toBe('half_open');
    probe.success();
    expect(gate.breaker(PEER).state().state).toBe('closed');
    expect(gate.breaker(PEER).admit().isProbe).toBe(false);
  });

  it('is opened and closed by hand, in every thread', async () => {
    const early = other.breaker(PEER).admit();
    gate.breaker(PEER).open();
    expect(other.breaker(PEER).state()).toMatchObject({ state: 'open', isolated: true });
    await gates.time.advanceToAsync(1e9);
    expect(() => other.breaker(PEER).admit()).toThrow(CircuitOpenError);
    other.breaker(PEER).close();
    expect(gate.breaker(PEER).state()).toMatchObject({ state: 'closed', isolated: false });
    early.failure();
    expect(gate.breaker(PEER).state().consecutiveFailures).toBe(0);
    expect(gates.snapshot().breaker).toMatchObject({ opened: 1, recovered: 1, late: 1 });
  });

  it('that is open by hand already is opened for nothing, and not counted again', async () => {
    gate.breaker(PEER).open();
    await gates.time.advanceToAsync(10);
    other.breaker(PEER).open();
    expect(gates.snapshot().breaker).toMatchObject({ opened: 1, tracked: 1 });
    gate.breaker(PEER).close();
    gate.breaker(PEER).open();
    expect(gates.snapshot().breaker.opened).toBe(2);
  });

  it('opens a circuit by hand that failures have opened, for good', async () => {
    fail(3);
    gate.breaker(PEER).open();
    await gates.time.advanceToAsync(1e9);
    expect(gate.breaker(PEER).state()).toMatchObject({ state: 'open', isolated: true });
    expect(gates.snapshot().breaker.opened).toBe(2);
  });

  it('closes an open circuit by hand at once, and its probe is late', async () => {
    fail(3);
    await gates.time.advanceToAsync(1000);
    const probe = gate.breaker(PEER).admit();
    other.breaker(PEER).close();
    probe.failure();
    expect(gate.breaker(PEER).state()).toMatchObject({ state: 'closed', consecutiveFailures: 0 });
    // There is nothing to close.
    other.breaker(PEER).close();
    expect(gates.snapshot().breaker.recovered).toBe(1);
  });

  it('says so when there is no room to open one more', () => {
    for (let i = 0; i < 5; i += 1) gate.breaker(`peer-${i}:1`).open();
    expect(() => gate.breaker('peer-5:1').open()).toThrow(IllegalStateError);
    expect(() => gate.breaker('peer-5:1').open()).toThrow(/breaker\.maxAddresses/);
    gate.breaker('peer-4:1').open();
  });

  it('says so when the breaker is switched off', () => {
    gates.configure({ breaker: { enabled: false } });
    expect(() => gate.breaker(PEER).open()).toThrow(/breaker\.enabled/);
    fail(10);
    expect(gate.breaker(PEER).state().state).toBe('closed');
  });

  it('takes no new calls once the runtime closes, and settles those that are under way', () => {
    const breaker = gate.breaker(PEER);
    const permit = breaker.admit();
    gates.close();
    for (const use of ['admit', 'state', 'open', 'close'] as const)
      expect(() => breaker[use]()).toThrow(RuntimeClosedError);
    expect(() => permit.failure()).not.toThrow();
    expect(() => gate.breaker(PEER)).toThrow(RuntimeClosedError);
  });

  it('is of no use once its thread has left; a permit of before changes nothing', async () => {
    fail(3);
    await gates.time.advanceToAsync(1000);
    const breaker = gate.breaker(PEER);
    const probe = breaker.admit();
    gate.detach();
    expect(() => breaker.admit()).toThrow(RuntimeClosedError);
    probe.success();
    expect(other.breaker(PEER).state().state).toBe('half_open');
  });
});
