import { afterEach, describe, expect, it } from 'vitest';
import {
  CircuitOpenError,
  ConfigError,
  createRuntime,
  type Runtime,
  type RuntimeEvents,
} from '../../dist/index.js';
import { ControlThreads } from './control-threads.js';
import { startThread, type ThreadSide } from './test-thread.js';
import { pause, until } from './until.js';

const RPC = 'read';
const RPCS = { rpcs: { [RPC]: { qpsPerCore: 0 } } };

let runtime: Runtime;
afterEach(() => runtime.close({ deadlineMs: 0 }));

const fail = (address: string, times = 3): void => {
  for (let i = 0; i < times; i += 1) runtime.gate.breaker(address).admit().failure();
};
const stateOf = (address: string) => runtime.gate.breaker(address).state();

describe('the half-open stampede', () => {
  const THREADS = 8;
  const CALLS = 1000;
  const MOST_ROUNDS = 400;
  const FOR_MS = 7000;

  interface Stampede {
    readonly thread: number;
    readonly threads: number;
    readonly calls: number;
    readonly rpc: string;
    readonly epoch: bigint;
    /** [0]: arrivals, of all rounds; [1]: stop; [2 + round]: attempts that went out; then refusals. */
    readonly words: Int32Array;
    readonly mostRounds: number;
    readonly untilNs: number;
    /** Round and thread: first and last call, ns. */
    readonly spans: Float64Array;
  }

  /** In each round all threads call a peer whose cooldown ends, a thousand times each; the probe hangs. */
  async function stampede({ spillway, handle, data }: ThreadSide<Stampede>): Promise<number> {
    const { thread, threads, calls, rpc, words, mostRounds, spans } = data;
    const gate = spillway.attach(handle);
    const now = (): number => Number(process.hrtime.bigint() - data.epoch);
    let arrivals = 0;
    const meet = (): void => {
      arrivals += threads;
      Atomics.add(words, 0, 1);
      Atomics.notify(words, 0);
      for (let here = Atomics.load(words, 0); here < arrivals; here = Atomics.load(words, 0))
        Atomics.wait(words, 0, here);
    };
    let round = 0;
    for (; round < mostRounds; round += 1) {
      const address = `peer-${round}:5000`;
      const breaker = gate.breaker(address);
      if (thread === 0) {
        for (let i = 0; i < 3; i += 1) breaker.admit().failure();
        if (now() > data.untilNs) Atomics.store(words, 1, 1);
      }
      meet();
      if (Atomics.load(words, 1) === 1) break;
      for (let seen = breaker.state(); seen.state === 'open' && seen.retryAfterMs > 0; )
        seen = breaker.state();
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      let settled = 0;
      let mine = 0;
      const pending: Promise<void>[] = [];
      const firstNs = now();
      for (let i = 0; i < calls; i += 1) {
        const call = gate.call({ rpc, address }, () => {
          mine += 1;
          Atomics.add(words, 2 + round, 1);
          return held;
        });
        pending.push(
          call.catch((error: unknown) => {
            if (!(error instanceof spillway.CircuitOpenError)) throw error;
            settled += 1;
          }),
        );
      }
      spans.set([firstNs, now()], (round * threads + thread) * 2);
      while (settled + mine < calls) await new Promise((go) => setImmediate(go));
      Atomics.add(words, 2 + mostRounds + round, settled);
      meet();
      release();
      await Promise.all(pending);
    }
    return round;
  }

  it('lets exactly one probe out of 8,000 calls of 8 threads through, each time', async () => {
    runtime = await createRuntime({ host: RPCS, breaker: { cooldownMs: 15 } });
    const words = new Int32Array(new SharedArrayBuffer((2 + MOST_ROUNDS * 2) * 4));
    const spans = new Float64Array(new SharedArrayBuffer(MOST_ROUNDS * THREADS * 16));
    const epoch = process.hrtime.bigint();
    const common = {
      threads: THREADS,
      calls: CALLS,
      rpc: RPC,
      epoch,
      words,
      mostRounds: MOST_ROUNDS,
      untilNs: FOR_MS * 1e6,
      spans,
    };
    const threads = Array.from({ length: THREADS }, (_, thread) =>
      startThread<number, Stampede>(runtime.handle(), stampede, { ...common, thread }),
    );
    const [rounds = 0] = await Promise.all(threads.map(({ done }) => done));
    expect(rounds).toBeGreaterThanOrEqual(2);
    const attempts = [...words.subarray(2, 2 + rounds)];
    expect(attempts).toEqual(new Array(rounds).fill(1));
    const refusals = [...words.subarray(2 + MOST_ROUNDS, 2 + MOST_ROUNDS + rounds)];
    expect(refusals).toEqual(new Array(rounds).fill(THREADS * CALLS - 1));
    // They met: some thread began before another had ended.
    const contended = attempts.filter((_, round) => {
      const of = Array.from({ length: THREADS }, (_, thread) => {
        const [first = 0, last = 0] = spans.subarray((round * THREADS + thread) * 2);
        return { first, last };
      }).sort((a, b) => a.first - b.first);
      return of.some(({ first }, i) => i > 0 && first < (of[i - 1]?.last ?? 0));
    });
    expect(contended.length).toBeGreaterThan(0);
    const { breaker } = runtime.snapshot();
    expect(breaker).toMatchObject({ probes: rounds, probesLost: 0, recovered: rounds, late: 0 });
    expect(breaker.refused).toBe(rounds * (THREADS * CALLS - 1));
  });
});

describe('circuits of all threads', () => {
  it('refuse the fourth call in a row to a dead peer, whichever threads make them', async () => {
    runtime = await createRuntime({ host: RPCS });
    const body = async ({ spillway, handle, say, told }: ThreadSide<undefined>): Promise<void> => {
      const gate = spillway.attach(handle);
      for (;;) {
        const address = (await told()) as string;
        if (address === '') return;
        const outcome = await gate
          .call({ rpc: 'read', address }, () => {
            throw new Error('down');
          })
          .catch((error: unknown) => error as Error);
        say((outcome as Error).name);
      }
    };
    const threads = Array.from({ length: 4 }, () => startThread(runtime.handle(), body));
    for (let round = 0; round < 24; round += 1) {
      const outcomes: unknown[] = [];
      for (let i = 0; i < 4; i += 1) {
        const thread = threads[(i * (1 + (round % 3)) + round) % 4];
        thread?.tell(`peer-${round}:1`);
        outcomes.push(await thread?.heard());
      }
      expect(outcomes).toEqual(['Error', 'Error', 'Error', 'CircuitOpenError']);
    }
    for (const { tell } of threads) tell('');
    await Promise.all(threads.map(({ done }) => done));
  });

  it('give the probe of a thread that is terminated to the next call at once', async () => {
    runtime = await createRuntime({
      host: RPCS,
      breaker: { cooldownMs: 10, probeTimeoutMs: 3_600_000 },
    });
    const lost: RuntimeEvents['circuit-open'][] = [];
    runtime.on('circuit-open', (event) => {
      if (event.reason === 'probe-lost') lost.push(event);
    });
    const hold = ({ spillway, handle, say }: ThreadSide<undefined>): void => {
      const breaker = spillway.attach(handle).breaker('peer:1');
      say('attached');
      const timer = setInterval(() => {
        if (breaker.state().retryAfterMs > 0) return;
        clearInterval(timer);
        say(breaker.admit().isProbe);
        setInterval(() => undefined, 1000);
      }, 1);
    };
    fail('peer:1');
    for (let round = 1; round <= 3; round += 1) {
      const thread = startThread(runtime.handle(), hold);
      expect(await thread.heard()).toBe('attached');
      await until('it is watched', () => runtime.snapshot().threads === 2);
      expect(await thread.heard()).toBe(true);
      expect(() => runtime.gate.breaker('peer:1').admit()).toThrow(CircuitOpenError);
      await pause(50);
      const killedAt = performance.now();
      await thread.worker.terminate();
      await until('the probe is free', () => stateOf('peer:1').retryAfterMs === 0);
      expect(performance.now() - killedAt).toBeLessThan(2000);
      await until('it is said', () => lost.length === round);
      await until('its place is free', () => runtime.snapshot().threads === 1);
    }
    expect(lost[0]).toMatchObject({ address: 'peer:1', reason: 'probe-lost', retryAfterMs: 0 });
    const probe = runtime.gate.breaker('peer:1').admit();
    expect(probe.isProbe).toBe(true);
    probe.success();
    expect(stateOf('peer:1').state).toBe('closed');
    expect(runtime.snapshot().breaker).toMatchObject({ tracked: 0, probesLost: 3, probes: 4 });
  });

  it('are whole whenever threads that use them are killed, and recover', async () => {
    runtime = await createRuntime({
      host: RPCS,
      breaker: { cooldownMs: 2, probeTimeoutMs: 50, maxAddresses: 20 },
    });
    const peers = Array.from({ length: 8 }, (_, i) => `peer-${i}:1`);
    const body = ({ spillway, handle, data, say }: ThreadSide<string[]>): void => {
      const gate = spillway.attach(handle);
      const breakers = data.map((peer) => gate.breaker(peer));
      say('ready');
      for (;;) {
        const breaker = breakers[Math.floor(Math.random() * breakers.length)];
        try {
          const permit = breaker?.admit();
          const verb = Math.random();
          if (verb < 0.7) permit?.failure();
          else if (verb < 0.95) permit?.success();
          else permit?.ignored();
        } catch (error) {
          if (!(error instanceof spillway.CircuitOpenError)) throw error;
        }
      }
    };
    const until3s = performance.now() + 3000;
    let kills = 0;
    while (performance.now() < until3s) {
      const threads = [0, 1].map(() => startThread(runtime.handle(), body, peers));
      await Promise.all(threads.map(({ heard }) => heard()));
      await pause(Math.random() * 20);
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
      kills += 2;
    }
    expect(kills).toBeGreaterThanOrEqual(4);
    for (const peer of peers) {
      const breaker = runtime.gate.breaker(peer);
      await until(`${peer} can be called`, () => breaker.state().retryAfterMs === 0);
      const permit = breaker.admit();
      permit.success();
      expect(breaker.state(), peer).toMatchObject({ state: 'closed', consecutiveFailures: 0 });
      fail(peer);
      expect(breaker.state().state).toBe('open');
    }
    expect(runtime.snapshot().breaker.tracked).toBe(peers.length);
  });

  it('are at most as many as may be, under a flood of failing addresses, and no open one is dropped', async () => {
    const maxAddresses = 1000;
    runtime = await createRuntime({ host: RPCS, breaker: { maxAddresses, cooldownMs: 600_000 } });
    const open = Array.from({ length: 200 }, (_, i) => `open-${i}:1`);
    for (const address of open) fail(address);
    const flood = async ({ spillway, handle, data }: ThreadSide<number>): Promise<void> => {
      const gate = spillway.attach(handle);
      for (let i = 0; i < 40_000; i += 1) {
        gate.breaker(`peer-${data}-${i}:1`).admit().failure();
        if (i % 100 === 99) await new Promise((go) => setImmediate(go));
      }
    };
    const before = process.memoryUsage().arrayBuffers;
    const threads = [0, 1].map((i) =>
      startThread<void, number>(runtime.handle(), flood, i, {
        resourceLimits: { maxOldGenerationSizeMb: 64 },
      }),
    );
    let most = 0;
    let ended = false;
    const flooded = Promise.all(threads.map(({ done }) => done)).finally(() => {
      ended = true;
    });
    while (!ended) {
      most = Math.max(most, runtime.snapshot().breaker.tracked);
      await pause(5);
    }
    await flooded;
    most = Math.max(most, runtime.snapshot().breaker.tracked);
    expect(most).toBeGreaterThan(maxAddresses / 2);
    expect(most).toBeLessThanOrEqual(maxAddresses * 1.25);
    await until('there is room', () => runtime.snapshot().breaker.tracked <= maxAddresses);
    for (const address of open) expect(stateOf(address).state, address).toBe('open');
    // Who is evicted while it is being counted is counted again, in another cell. The total comes after the room.
    await until('no failure is lost', () => {
      const { evicted, untracked, tracked } = runtime.snapshot().breaker;
      return evicted + untracked + tracked >= 80_000 + open.length;
    });
    // Either a failure found all cells taken, and those above the maximum went since; or room was made for every one.
    expect(runtime.snapshot().breaker.evicted).toBeGreaterThanOrEqual(maxAddresses / 4);
    await until('who comes now is tracked as ever', () => {
      if (stateOf('newcomer:1').state === 'closed') fail('newcomer:1', 1);
      return stateOf('newcomer:1').state === 'open';
    });
    // A cell for each would be 20 MB.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8e6);
  });

  it('fill the memory and no more while nobody makes room, to a cell, and are made room for by the successor', async () => {
    const maxAddresses = 1000;
    const cells = 1250;
    const controls = new ControlThreads();
    runtime = await createRuntime({ host: RPCS, breaker: { maxAddresses, cooldownMs: 600_000 } });
    const open = Array.from({ length: 200 }, (_, i) => `open-${i}:1`);
    for (const address of open) fail(address);
    await controls.kill(runtime);
    controls.stop();
    // In one turn of the owner's loop, which cannot start a successor meanwhile.
    for (let i = 0; i < 5000; i += 1) fail(`peer-${i}:1`, 1);
    const full = runtime.snapshot();
    expect(full.controlRestarts).toBe(0);
    expect(full.breaker).toMatchObject({
      tracked: cells,
      untracked: open.length + 5000 - cells,
      evicted: 0,
      open: open.length,
    });
    await until('there is room', () => runtime.snapshot().breaker.tracked <= maxAddresses);
    await until('all are accounted for', () => {
      const { evicted, tracked } = runtime.snapshot().breaker;
      return evicted + tracked === cells;
    });
    for (const address of open) expect(stateOf(address).state, address).toBe('open');
    expect(runtime.snapshot().breaker).toMatchObject({
      untracked: full.breaker.untracked,
      open: open.length,
    });
  });

  it('stay open without a control thread, and are looked after by its successor', async () => {
    const controls = new ControlThreads();
    runtime = await createRuntime({
      host: RPCS,
      breaker: { cooldownMs: 50, probeTimeoutMs: 200, idleMs: 300 },
    });
    const events: string[] = [];
    runtime.on('circuit-open', ({ reason }) => events.push(`open ${reason}`));
    runtime.on('circuit-closed', ({ reason }) => events.push(`closed ${reason}`));
    fail('peer:1');
    await until('it is said', () => events.length === 1);
    await controls.kill(runtime);
    controls.stop();
    expect(() => runtime.gate.breaker('peer:1').admit()).toThrow(CircuitOpenError);
    await pause(60);
    expect(runtime.gate.breaker('peer:1').admit().isProbe).toBe(true);
    await until('the successor is there', () => runtime.snapshot().controlRestarts === 1);
    await until('it gave the probe up', () => events.includes('open probe-lost'));
    await until('it forgot the circuit', () => events.length === 3);
    expect(runtime.snapshot().breaker.tracked).toBe(0);
    expect(events).toEqual(['open failures', 'open probe-lost', 'closed idle']);
  });

  it('are configured for all threads at once, within what the memory holds', async () => {
    runtime = await createRuntime({ host: RPCS, breaker: { maxAddresses: 100 } });
    for (let i = 0; i < 60; i += 1) fail(`peer-${i}:1`, 1);
    await expect(runtime.updateConfig({ breaker: { maxAddresses: 101 } })).rejects.toThrow(
      ConfigError,
    );
    expect(runtime.config().breaker.maxAddresses).toBe(100);
    await runtime.updateConfig({ breaker: { maxAddresses: 10, cooldownMs: 77 } });
    await until('there is room', () => runtime.snapshot().breaker.tracked === 10);
    expect(stateOf('peer-59:1').consecutiveFailures).toBe(1);
    expect(stateOf('peer-0:1').consecutiveFailures).toBe(0);
    fail('dead:1');
    expect(stateOf('dead:1').retryAfterMs).toBeLessThanOrEqual(78);
    await runtime.updateConfig({ breaker: { maxAddresses: 100, enabled: false } });
    await until('all is forgotten', () => runtime.snapshot().breaker.tracked === 0);
    fail('dead:1', 10);
    expect(stateOf('dead:1').state).toBe('closed');
  });
});
