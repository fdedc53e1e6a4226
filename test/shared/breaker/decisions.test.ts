import { describe, expect, it } from 'vitest';
import { cooldownEndMs } from '../../../src/shared/breaker/cooldown.js';
import { paramsOf } from './breaker-params.js';
import { PureCircuit } from './pure-circuit.js';

describe('a circuit', () => {
  it('opens at the third failure in a row, and refuses until a second later', () => {
    const circuit = new PureCircuit();
    expect(circuit.call('failure', 0)).toBe('failed');
    expect(circuit.call('failure', 10)).toBe('failed');
    expect(circuit.call('failure', 20)).toBe('opened');
    expect(circuit.admit(21)).toBe(999);
    expect(circuit.view(21)).toMatchObject({ state: 'open', retryAfterMs: 999 });
    expect(circuit.admit(1020)).toMatchObject({ kind: 'probe' });
  });

  it('lets one probe through, whatever comes meanwhile, and refuses the others until its deadline', () => {
    const circuit = new PureCircuit();
    circuit.open(0);
    circuit.admit(1000);
    for (let nowMs = 1000; nowMs < 1500; nowMs += 1)
      expect(circuit.admit(nowMs)).toBe(1500 - nowMs);
    expect(circuit.admit(1500)).toMatchObject({ kind: 'probe' });
  });

  it.each(['success', 'failure', 'ignored'] as const)(
    'ends a probe in exactly one way: %s',
    (outcome) => {
      const circuit = new PureCircuit();
      circuit.open(0);
      const probe = circuit.admit(1000);
      const effects = { success: 'closed', failure: 'reopened', ignored: 'released' } as const;
      expect(circuit.settle(probe, outcome, 1100)).toBe(effects[outcome]);
      const next = { success: 'closed', failure: 1000, ignored: 'probe' } as const;
      const admitted = circuit.admit(1100);
      expect(typeof admitted === 'number' ? admitted : admitted.kind).toBe(next[outcome]);
    },
  );

  it('shows a released probe as an open circuit that may be probed at once', () => {
    const circuit = new PureCircuit();
    circuit.open(0);
    circuit.settle(circuit.admit(1000), 'ignored', 1100);
    expect(circuit.view(1100)).toMatchObject({ state: 'open', retryAfterMs: 0 });
  });

  it('takes what was admitted before the opening for late, also after the recovery', () => {
    const circuit = new PureCircuit();
    const early = circuit.admit(0);
    const other = circuit.admit(0);
    circuit.open(0);
    expect(circuit.settle(early, 'failure', 10)).toBe('late');
    circuit.settle(circuit.admit(1000), 'success', 1001);
    expect(circuit.settle(other, 'failure', 1002)).toBe('late');
    expect(circuit.view(1002).consecutiveFailures).toBe(0);
  });

  it('stays open when it is isolated, whatever the time, and refuses no late result', () => {
    const circuit = new PureCircuit();
    const early = circuit.admit(0);
    circuit.state = { kind: 'isolated', sinceMs: 5 };
    expect(circuit.admit(1e9)).toBe(1000);
    expect(circuit.settle(early, 'success', 1e9)).toBe('late');
    expect(circuit.view(1e9)).toMatchObject({ state: 'open', isolated: true });
  });

  it('counts failures of a threshold that was raised and lowered at the next failure', () => {
    const circuit = new PureCircuit({ failureThreshold: 10 });
    for (let i = 0; i < 5; i += 1) circuit.call('failure', i);
    circuit.params = paramsOf({ failureThreshold: 2 });
    expect(circuit.view(6).state).toBe('closed');
    expect(circuit.call('failure', 6)).toBe('opened');
  });
});

describe('a growing cooldown', () => {
  const growing = { cooldownFactor: 2, maxCooldownMs: 5000 };

  it('doubles with each failed probe up to the cap, and starts over after a recovery', () => {
    const circuit = new PureCircuit(growing);
    circuit.open(0);
    let nowMs = 0;
    for (const cooldownMs of [1000, 2000, 4000, 5000, 5000]) {
      expect(circuit.view(nowMs).retryAfterMs).toBe(cooldownMs);
      nowMs += cooldownMs;
      expect(circuit.call('failure', nowMs)).toBe('reopened');
    }
    nowMs += 5000;
    expect(circuit.call('success', nowMs)).toBe('closed');
    circuit.open(nowMs);
    expect(circuit.view(nowMs).retryAfterMs).toBe(1000);
  });

  it('is not cut by a cap below the cooldown itself', () => {
    const circuit = new PureCircuit({ cooldownFactor: 3, maxCooldownMs: 10 });
    circuit.open(0);
    circuit.call('failure', 1000);
    expect(circuit.view(1000).retryAfterMs).toBe(1000);
  });

  it('does not grow by a probe that was lost or ignored', () => {
    const circuit = new PureCircuit(growing);
    circuit.open(0);
    circuit.admit(1000);
    circuit.settle(circuit.admit(1500), 'ignored', 1600);
    circuit.call('failure', 1600);
    expect(circuit.view(1600).retryAfterMs).toBe(2000);
  });

  it('never overflows, however often the probe fails', () => {
    const circuit = new PureCircuit({ cooldownFactor: 100, maxCooldownMs: 7_776_000_000 });
    circuit.open(0);
    let nowMs = 0;
    for (let i = 0; i < 100; i += 1) {
      nowMs += circuit.view(nowMs).retryAfterMs;
      expect(circuit.call('failure', nowMs)).toBe('reopened');
    }
    expect(circuit.view(nowMs).retryAfterMs).toBe(7_776_000_000);
  });
});

describe('jitter', () => {
  const params = paramsOf({ jitter: 0.5 });
  const endOf = (openedAtMs: number, salt: number): number =>
    cooldownEndMs({ openedAtMs, failedProbes: 0 }, params, salt) - openedAtMs;

  it('leaves out up to its share, the same for all who ask', () => {
    for (let salt = 0; salt < 1000; salt += 1) {
      const cooldownMs = endOf(12_345, salt * 7919);
      expect(cooldownMs).toBeGreaterThan(500);
      expect(cooldownMs).toBeLessThanOrEqual(1000);
      expect(endOf(12_345, salt * 7919)).toBe(cooldownMs);
    }
  });

  it('spreads circuits that opened together, and openings of one circuit', () => {
    const together = new Set(Array.from({ length: 100 }, (_, salt) => endOf(12_345, salt)));
    const repeated = new Set(Array.from({ length: 100 }, (_, i) => endOf(12_345 + i, 7)));
    expect(together.size).toBeGreaterThan(95);
    expect(repeated.size).toBeGreaterThan(95);
  });

  it('counts at once when it is changed', () => {
    const circuit = new PureCircuit({ jitter: 1 });
    circuit.open(0);
    expect(circuit.view(0).retryAfterMs).toBeLessThan(1000);
    circuit.params = paramsOf();
    expect(circuit.view(0).retryAfterMs).toBe(1000);
  });
});

describe('with two or more good probes asked for', () => {
  it('closes after so many in a row, one at a time, without another cooldown between them', () => {
    const circuit = new PureCircuit({ probesToClose: 3 });
    circuit.open(0);
    for (let i = 0; i < 2; i += 1) {
      const probe = circuit.admit(1000 + i);
      expect(circuit.admit(1000 + i)).toBeTypeOf('number');
      expect(circuit.settle(probe, 'success', 1000 + i)).toBe('progressed');
      expect(circuit.view(1000 + i)).toMatchObject({ state: 'half_open', retryAfterMs: 0 });
    }
    expect(circuit.call('success', 1002)).toBe('closed');
  });

  it('starts over after one that fails, and not after one that is ignored', () => {
    const circuit = new PureCircuit({ probesToClose: 2 });
    circuit.open(0);
    circuit.call('success', 1000);
    circuit.call('failure', 1001);
    expect(circuit.view(1001)).toMatchObject({ state: 'open', retryAfterMs: 1000 });
    expect(circuit.call('success', 2001)).toBe('progressed');
    expect(circuit.call('ignored', 2002)).toBe('released');
    expect(circuit.call('success', 2003)).toBe('closed');
  });
});

describe('failure-rate mode', () => {
  const rate = { failureRate: 0.5, windowMs: 7000, minimumCalls: 4 };

  it('opens when half of the outcomes are failures, not before there are enough', () => {
    const circuit = new PureCircuit(rate);
    expect(circuit.call('failure', 0)).toBe('failed');
    expect(circuit.call('failure', 1)).toBe('failed');
    expect(circuit.call('failure', 2)).toBe('failed');
    expect(circuit.call('failure', 3)).toBe('opened');
  });

  it('is not opened by failures in a row that are few among many', () => {
    const circuit = new PureCircuit(rate);
    circuit.call('failure', 0);
    for (let i = 0; i < 20; i += 1) circuit.call('success', 1);
    for (let i = 0; i < 18; i += 1) expect(circuit.call('failure', 2)).toBe('failed');
    expect(circuit.view(2).consecutiveFailures).toBe(19);
    expect(circuit.call('failure', 2)).toBe('opened');
  });

  it('counts no ignored outcome, and none before the first failure', () => {
    const circuit = new PureCircuit(rate);
    for (let i = 0; i < 100; i += 1) circuit.call('success', 0);
    for (let i = 0; i < 3; i += 1) circuit.call('failure', 1);
    for (let i = 0; i < 100; i += 1) circuit.call('ignored', 1);
    expect(circuit.call('failure', 1)).toBe('opened');
  });

  it('forgets failures that have left the window, also after an idle hour', () => {
    const circuit = new PureCircuit(rate);
    for (let i = 0; i < 3; i += 1) circuit.call('failure', 500);
    // An hour and a bit, such that the same slot is in use.
    const later = 7000 * 514 + 500;
    expect(circuit.call('failure', later)).toBe('failed');
    expect(circuit.view(later).consecutiveFailures).toBe(1);
    for (let i = 0; i < 2; i += 1) expect(circuit.call('failure', later + 1)).toBe('failed');
    expect(circuit.call('failure', later + 2)).toBe('opened');
  });

  it('is healthy again with the first success after the window', () => {
    const circuit = new PureCircuit(rate);
    circuit.call('failure', 0);
    expect(circuit.call('success', 6999)).toBe('none');
    expect(circuit.view(6999).consecutiveFailures).toBe(1);
    expect(circuit.call('success', 7000)).toBe('reset');
    expect(circuit.view(7000).consecutiveFailures).toBe(0);
  });

  it('begins a new window after a recovery', () => {
    const circuit = new PureCircuit(rate);
    for (let i = 0; i < 4; i += 1) circuit.call('failure', 0);
    circuit.call('success', 1000);
    for (let i = 0; i < 3; i += 1) expect(circuit.call('failure', 1001)).toBe('failed');
  });
});
