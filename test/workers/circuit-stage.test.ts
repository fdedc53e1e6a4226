import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { BusyError, CircuitOpenError, RateLimitExceededError } from '../../src/shared/errors.js';
import type { Verdict } from '../../src/shared/verdict.js';
import type { ConfigPatch } from '../../src/workers/config/options.js';
import type { Gate } from '../../src/workers/gate.js';
import { createVirtualGates, ended, type VirtualGates } from './virtual-gate.js';

const PEER = 'peer:5000';

function setUp(patch: ConfigPatch = {}): { gates: VirtualGates; gate: Gate; others: Gate[] } {
  const gates = createVirtualGates({
    ...(patch as object),
    host: {
      rpcs: { read: { qpsPerCore: 0 }, paid: { qpsPerCore: 1, burst: 1 } },
    },
    breaker: { cooldownMs: 1000, probeTimeoutMs: 500, ...patch.breaker },
  });
  return { gates, gate: gates.gate(), others: [gates.gate(), gates.gate()] };
}

const down = (): never => {
  throw new Error('down');
};

const fail = (gate: Gate, times = 1, address = PEER): Promise<unknown> =>
  Promise.all(
    Array.from({ length: times }, () =>
      gate.call({ rpc: 'read', address }, down).catch((error: unknown) => error),
    ),
  );

const stateOf = (gate: Gate): string => gate.breaker(PEER).state().state;

describe('calls that name an address', () => {
  it('go out three times to a dead peer, whichever threads make them, and not a fourth time', async () => {
    const { gates, gate, others } = setUp();
    let attempts = 0;
    const dead = (): never => {
      attempts += 1;
      throw new Error('down');
    };
    for (const one of [gate, ...others]) {
      await expect(one.call({ rpc: 'read', address: PEER }, dead)).rejects.toThrow('down');
    }
    const refused = gate.call({ rpc: 'read', address: PEER }, dead);
    await expect(refused).rejects.toThrow(CircuitOpenError);
    await expect(refused).rejects.toMatchObject({
      code: 'ERR_SPILLWAY_CIRCUIT_OPEN',
      address: PEER,
      retryAfterMs: 1000,
    });
    expect(attempts).toBe(3);
    const { breaker, circuits, rpcs } = gates.snapshot();
    expect(breaker).toMatchObject({ tracked: 1, open: 1, refused: 1, opened: 1 });
    expect(circuits).toMatchObject([{ address: PEER, state: 'open', retryAfterMs: 1000 }]);
    // It is no attempt.
    expect(rpcs[0]).toMatchObject({ calls: 3 });
  });

  it('share a circuit under every spelling of the peer', async () => {
    const { gate } = setUp();
    for (const spelling of ['[::1]:80', '[0:0:0:0:0:0:0:1]:80', 'http://[::1]/path'])
      await fail(gate, 1, spelling);
    await expect(gate.call({ rpc: 'read', address: '[::1]:080' }, down)).rejects.toMatchObject({
      address: '[::1]:80',
    });
  });

  it('are refused for an address that is none, before anything is taken', async () => {
    const { gate } = setUp();
    for (const address of ['host:0', ':80', 'ho st']) {
      await expect(gate.call({ rpc: 'paid', address }, down)).rejects.toThrow(RangeError);
    }
    await expect(gate.call({ rpc: 'paid', address: 5 as never }, down)).rejects.toThrow(TypeError);
    expect(gate.tryAcquire('paid')).toBe(true);
  });

  it('are let through as one probe when the cooldown is over; it closes the circuit', async () => {
    const { gates, gate, others } = setUp();
    await fail(gate, 3);
    await gates.time.advanceToAsync(1000);
    let answer: (value: string) => void = () => undefined;
    const probe = gate.call({ rpc: 'read', address: PEER }, () => {
      return new Promise<string>((resolve) => {
        answer = resolve;
      });
    });
    await gates.time.settleAsync();
    const late = await fail(others[0] as Gate, 100);
    expect((late as unknown[]).every((error) => error instanceof CircuitOpenError)).toBe(true);
    answer('alive');
    expect(await probe).toBe('alive');
    expect(stateOf(gate)).toBe('closed');
    expect(gates.snapshot().breaker).toMatchObject({ tracked: 0, probes: 1, recovered: 1 });
  });

  it.each<[string, Verdict]>([
    ['busy', 'busy'],
    ['busy with a hint', { kind: 'busy', retryAfterMs: 5 }],
    ['refused', { kind: 'refused', retryAfterMs: 5 }],
    ['success', 'success'],
  ])('count %s as the answer of a living peer', async (_what, verdict) => {
    const { gate } = setUp();
    await fail(gate, 2);
    await gate.call({ rpc: 'read', address: PEER, classify: () => verdict }, () => 1);
    await fail(gate, 2);
    expect(stateOf(gate)).toBe('closed');
  });

  it('fail though the transport worked when the classifier says so', async () => {
    const { gate } = setUp();
    for (let i = 0; i < 3; i += 1)
      await gate.call(
        { rpc: 'read', address: PEER, classify: () => 'failure' },
        () => 'status 500',
      );
    expect(stateOf(gate)).toBe('open');
  });

  it('neither count nor reset when their outcome is ignored', async () => {
    const { gate } = setUp();
    await fail(gate, 2);
    for (let i = 0; i < 50; i += 1)
      await gate.call({ rpc: 'read', address: PEER, classify: () => 'ignored' }, () => 1);
    await fail(gate, 1);
    expect(stateOf(gate)).toBe('open');
  });

  it.each([
    ['an AbortError', undefined],
    ['a string', 'gone'],
    ['undefined', null],
    ['an error of undici', Object.assign(new Error('aborted'), { code: 'UND_ERR_ABORTED' })],
  ])('say nothing about the peer when their callers walk away with %s', async (_what, reason) => {
    const { gate } = setUp();
    for (let i = 0; i < 20; i += 1) {
      const controller = new AbortController();
      const call = gate.call(
        { rpc: 'read', address: PEER, signal: controller.signal },
        ({ signal }) =>
          new Promise<never>((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(new Error('connection reset')));
          }),
      );
      await Promise.resolve();
      controller.abort(reason ?? undefined);
      await expect(call).rejects.toBeDefined();
      expect(getEventListeners(controller.signal, 'abort').length).toBeLessThanOrEqual(1);
    }
    expect(gate.breaker(PEER).state()).toMatchObject({ state: 'closed', consecutiveFailures: 0 });
  });

  it('give the probe back when its caller aborts: the next call is the probe', async () => {
    const { gates, gate } = setUp();
    await fail(gate, 3);
    await gates.time.advanceToAsync(1000);
    const controller = new AbortController();
    const call = gate.call({ rpc: 'read', address: PEER, signal: controller.signal }, () => {
      controller.abort();
      throw new Error('aborted on the way');
    });
    await expect(call).rejects.toBeDefined();
    expect(stateOf(gate)).toBe('open');
    expect(await gate.call({ rpc: 'read', address: PEER }, () => 'alive')).toBe('alive');
  });

  it('give back what the limiters gave when the circuit opens while they wait', async () => {
    const { gates, gate } = setUp({ breaker: { cooldownMs: 5000 } });
    const attempts: number[] = [];
    const paid = { rpc: 'paid', address: PEER, maxWaitMs: 5000 };
    const attempt = (): number => attempts.push(gates.time.nowMs);
    await gate.call(paid, attempt);
    const waiting = gate.call(paid, attempt);
    waiting.catch(() => undefined);
    await fail(gate, 3);
    await expect(ended(gates, waiting)).rejects.toThrow(CircuitOpenError);
    expect(attempts).toHaveLength(1);
    const { conservation } = gates.snapshot();
    expect(conservation).toMatchObject({ ok: true, granted: 2, spent: 1, returned: 1, lost: 0 });
  });

  it('take nothing from the limiters when the circuit refuses at once', async () => {
    const { gate } = setUp();
    await fail(gate, 3);
    for (let i = 0; i < 10; i += 1)
      await expect(gate.call({ rpc: 'paid', address: PEER }, down)).rejects.toThrow(
        CircuitOpenError,
      );
    expect(gate.tryAcquire('paid')).toBe(true);
  });

  it('are not the probe when a limiter refuses them', async () => {
    const { gates, gate } = setUp();
    await fail(gate, 3);
    await gates.time.advanceToAsync(1000);
    expect(gate.tryAcquire('paid')).toBe(true);
    const refused = gate.call({ rpc: 'paid', address: PEER, maxWaitMs: 0 }, down);
    await expect(refused).rejects.toThrow(RateLimitExceededError);
    expect(await gate.call({ rpc: 'read', address: PEER }, () => 'alive')).toBe('alive');
  });

  it('that are late change nothing, also when the circuit has recovered', async () => {
    const { gates, gate, others } = setUp();
    const ends: (() => void)[] = [];
    const slow = Array.from({ length: 5 }, () =>
      (others[0] as Gate)
        .call(
          { rpc: 'read', address: PEER },
          () =>
            new Promise<never>((_resolve, reject) => ends.push(() => reject(new Error('late')))),
        )
        .catch(() => undefined),
    );
    await gates.time.settleAsync();
    await fail(gate, 3);
    await gates.time.advanceToAsync(500);
    (ends.shift() as () => void)();
    await gates.time.settleAsync();
    // The cooldown is not prolonged.
    expect(gate.breaker(PEER).state()).toMatchObject({ state: 'open', retryAfterMs: 500 });
    await gates.time.advanceToAsync(1000);
    await gate.call({ rpc: 'read', address: PEER }, () => 'alive');
    for (const end of ends) end();
    await Promise.all(slow);
    expect(gate.breaker(PEER).state()).toMatchObject({ state: 'closed', consecutiveFailures: 0 });
    expect(gates.snapshot().breaker.late).toBe(5);
  });

  it('of a probe that was replaced do not settle the one that replaced it', async () => {
    const { gates, gate } = setUp();
    await fail(gate, 3);
    await gates.time.advanceToAsync(1000);
    const ends: ((value: string) => void)[] = [];
    const hang = (): Promise<string> => new Promise((resolve) => ends.push(resolve));
    const first = gate.call({ rpc: 'read', address: PEER }, hang);
    await gates.time.advanceToAsync(1500);
    const second = gate.call({ rpc: 'read', address: PEER }, hang);
    await gates.time.settleAsync();
    ends[0]?.('late');
    await first;
    expect(stateOf(gate)).toBe('half_open');
    ends[1]?.('alive');
    await second;
    expect(stateOf(gate)).toBe('closed');
    expect(gates.snapshot().breaker).toMatchObject({ probes: 2, probesLost: 1, late: 1 });
  });

  it('wait no longer for a probe that never settles than its deadline says', async () => {
    const { gates, gate } = setUp();
    await fail(gate, 3);
    await gates.time.advanceToAsync(1000);
    void gate.call({ rpc: 'read', address: PEER }, () => new Promise(() => undefined));
    await gates.time.advanceToAsync(1499);
    await expect(gate.call({ rpc: 'read', address: PEER }, down)).rejects.toMatchObject({
      retryAfterMs: 1,
    });
    await gates.time.advanceToAsync(1500);
    expect(await gate.call({ rpc: 'read', address: PEER }, () => 'alive')).toBe('alive');
  });

  it('leave a probe whose classifier throws settled, as a failure', async () => {
    const { gates, gate } = setUp();
    await fail(gate, 3);
    await gates.time.advanceToAsync(1000);
    const classify = (): never => {
      throw new Error('bad classifier');
    };
    await expect(gate.call({ rpc: 'read', address: PEER, classify }, () => 1)).rejects.toThrow(
      'bad classifier',
    );
    expect(gate.breaker(PEER).state()).toMatchObject({ state: 'open', retryAfterMs: 1000 });
  });

  it('are refused by name when they explain themselves', async () => {
    const { gate } = setUp();
    await fail(gate, 3);
    const refused = gate.call({ rpc: 'read', address: PEER, explain: true }, down);
    await expect(refused).rejects.toMatchObject({
      explanation: { refusal: { by: 'circuit', retryAfterMs: 1000 } },
    });
  });

  it('open the circuit among their own retries, and end with its refusal', async () => {
    const { gates, gate } = setUp({ retry: { maxAttempts: 5, baseDelayMs: 1 } });
    let attempts = 0;
    const call = gate.call({ rpc: 'read', address: PEER }, () => {
      attempts += 1;
      throw new BusyError('', {});
    });
    await expect(ended(gates, call)).rejects.toThrow(BusyError);
    expect(attempts).toBe(5);
    const dead = gate.call({ rpc: 'read', address: PEER }, () => {
      attempts += 1;
      throw new Error('down');
    });
    await expect(ended(gates, dead)).rejects.toThrow(CircuitOpenError);
    expect(attempts).toBe(8);
  });
});

describe('the snapshot', () => {
  it('shows at most 1000 circuits, open ones before closed ones, by address', async () => {
    const { gates, gate } = setUp({ breaker: { maxAddresses: 2000 } });
    for (let i = 0; i < 1500; i += 1) gate.breaker(`closed-${i}:1`).admit().failure();
    for (let i = 0; i < 30; i += 1) await fail(gate, 3, `open-${i}:1`);
    const { circuits, breaker } = gates.snapshot();
    expect(breaker).toMatchObject({ tracked: 1530, closed: 1500, open: 30, halfOpen: 0 });
    expect(circuits).toHaveLength(1000);
    expect(circuits.filter(({ state }) => state === 'open')).toHaveLength(30);
    const addresses = circuits.map(({ address }) => address);
    expect(addresses).toEqual(addresses.toSorted());
    expect(gates.snapshot().circuits).toEqual(circuits);
  });
});

describe('the configuration of the breaker', () => {
  it('counts at once, also for circuits that are open', async () => {
    const { gates, gate } = setUp();
    await fail(gate, 3);
    gates.configure({ breaker: { cooldownMs: 300 } });
    expect(gate.breaker(PEER).state().retryAfterMs).toBe(300);
    gates.configure({ breaker: { cooldownMs: 9000 } });
    expect(gate.breaker(PEER).state().retryAfterMs).toBe(9000);
    gates.configure({ breaker: { failureThreshold: 1 } });
    await fail(gate, 1, 'other:1');
    expect(gate.breaker('other:1').state().state).toBe('open');
  });

  it('switches it off: nothing is refused, and nothing is counted', async () => {
    const { gates, gate } = setUp();
    await fail(gate, 3);
    gates.configure({ breaker: { enabled: false } });
    for (let i = 0; i < 10; i += 1)
      await expect(gate.call({ rpc: 'read', address: PEER }, down)).rejects.toThrow('down');
    await fail(gate, 10, 'other:1');
    expect(gate.breaker('other:1').state().consecutiveFailures).toBe(0);
    gates.configure({ breaker: { enabled: true } });
    await fail(gate, 3, 'other:1');
    expect(gate.breaker('other:1').state().state).toBe('open');
  });

  it('lets failures find no room, and says so', async () => {
    const { gates, gate } = setUp({ breaker: { maxAddresses: 4 } });
    for (let i = 0; i < 50; i += 1) await fail(gate, 1, `peer-${i}:1`);
    const { breaker } = gates.snapshot();
    expect(breaker).toMatchObject({ tracked: 5, untracked: 45 });
    expect(await gate.call({ rpc: 'read', address: 'peer-49:1' }, () => 'alive')).toBe('alive');
  });
});

describe('a probe whose answer takes long', () => {
  async function probed(bounds: { attemptTimeoutMs?: number } = {}, breaker = {}) {
    const { gates, gate } = setUp({ breaker });
    await fail(gate, 3);
    await gates.time.advanceToAsync(1000);
    let finish: (error?: Error) => void = () => undefined;
    let tell: (() => void) | undefined;
    const probe = gate.call({ rpc: 'read', address: PEER, ...bounds }, ({ answered }) => {
      tell = answered;
      return new Promise<string>((resolve, reject) => {
        finish = (error) => (error === undefined ? resolve('all of it') : reject(error));
      });
    });
    probe.catch(() => undefined);
    await gates.time.settleAsync();
    return {
      gates,
      gate,
      probe,
      finish: (error?: Error) => finish(error),
      answered: () => tell?.(),
    };
  }
  const consecutive = (gate: Gate) => gate.breaker(PEER).state().consecutiveFailures;

  it.each([{}, { attemptTimeoutMs: 60_000 }])(
    'closes its circuit with the beginning of it: %j',
    async (bounds) => {
      const { gates, gate, probe, finish, answered } = await probed(bounds);
      expect(stateOf(gate)).toBe('half_open');
      answered();
      expect(stateOf(gate)).toBe('closed');
      answered();
      await gates.time.advanceToAsync(10_000);
      finish();
      expect(await probe).toBe('all of it');
      expect(gates.snapshot().breaker).toMatchObject({ probes: 1, recovered: 1, late: 0 });
    },
  );

  it('counts as any other call afterwards: a fault of the rest is one failure', async () => {
    const { gate, probe, finish, answered } = await probed();
    answered();
    finish(new Error('reset'));
    await expect(probe).rejects.toThrow('reset');
    expect(stateOf(gate)).toBe('closed');
    expect(consecutive(gate)).toBe(1);
    await fail(gate, 2);
    expect(stateOf(gate)).toBe('open');
  });

  it('has its say once, also where more than one good probe is asked for', async () => {
    const { gates, gate, probe, finish, answered } = await probed({}, { probesToClose: 2 });
    answered();
    finish();
    await probe;
    expect(stateOf(gate)).toBe('half_open');
    await gate.call({ rpc: 'read', address: PEER }, () => 'second');
    expect(stateOf(gate)).toBe('closed');
    expect(gates.snapshot().breaker).toMatchObject({ probes: 2, recovered: 1 });
  });

  it('says nothing once it has ended', async () => {
    const { gate, probe, finish, answered } = await probed();
    finish(new Error('down'));
    await expect(probe).rejects.toThrow('down');
    answered();
    expect(stateOf(gate)).toBe('open');
  });

  it('is told of by probes only', async () => {
    const { gate } = setUp();
    const told = await gate.call({ rpc: 'read', address: PEER }, ({ answered }) => answered);
    expect(told).toBeUndefined();
  });
});
