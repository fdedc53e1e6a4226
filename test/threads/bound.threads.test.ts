import { availableParallelism } from 'node:os';
import { postMessageToThread } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../dist/index.js';
import {
  type Grant as GrantOfSomebody,
  type Terms,
  tightestWindow,
} from '../shared/grant-bound.js';
import { controlThreadId } from './control-threads.js';
import { startThread, type ThreadSide } from './test-thread.js';
import { pause } from './until.js';

interface Grant extends GrantOfSomebody {
  readonly thread: number;
}

const THREADS = 8;
const CHANGES = 45;
const LOG_RECORDS = 20_000;
const RECORD_WORDS = 5;

let runtime: Runtime;
afterEach(() => runtime.close({ deadlineMs: 0 }));

interface Load {
  readonly thread: number;
  readonly threads: number;
  readonly rpc: string;
  readonly epoch: bigint;
  /** [0]: threads at work; [1]: records so far, of all threads; [2]: refusals by tryAcquire; [3]: ended by abort; [4]: stop. */
  readonly words: Int32Array;
  /** Thread, from, to, permits, asked at. */
  readonly log: Float64Array;
}

/** Every verb of the gate with random weights, gaps, patience and aborts; logs each grant. */
async function useEveryVerb({ spillway, handle, data }: ThreadSide<Load>): Promise<void> {
  const { words, log, rpc } = data;
  const gate = spillway.attach(handle);
  const now = (): number => Number(process.hrtime.bigint() - data.epoch);
  const grant = (fromNs: number, toNs: number, n: number, askedNs = fromNs): void => {
    const at = Atomics.add(words, 1, 1) * 5;
    if (at < log.length) log.set([data.thread, fromNs, toNs, n, askedNs], at);
  };
  const random = (below: number): number => Math.floor(Math.random() * below);
  const spin = (ns: number): void => {
    for (const end = now() + ns; now() < end; );
  };

  const acquire = async (n: number): Promise<void> => {
    const abort = new AbortController();
    const timer = random(2) === 0 ? setTimeout(() => abort.abort('gone'), random(6)) : undefined;
    const from = now();
    try {
      await gate.acquire(rpc, { n, maxWaitMs: random(8), signal: abort.signal });
      grant(from, now(), n);
    } catch (error) {
      if (error === 'gone') Atomics.add(words, 3, 1);
      else if (!(error instanceof spillway.RateLimitExceededError)) throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  Atomics.add(words, 0, 1);
  while (Atomics.load(words, 0) < data.threads) await new Promise((go) => setImmediate(go));
  const waiting = new Set<Promise<void>>();
  while (Atomics.load(words, 4) === 0) {
    const n = 1 + random(3);
    const verb = random(100);
    if (verb < 70) {
      const from = now();
      if (gate.tryAcquire(rpc, n)) grant(from, now(), n);
      else Atomics.add(words, 2, 1);
    } else if (verb < 72) {
      const from = now();
      const waitNs = gate.reserve(rpc, n).waitMs * 1e6;
      // The caller waits by itself: the grant is where it was planned.
      grant(from + waitNs, now() + waitNs, n, from);
    } else if (waiting.size < 20) {
      const wait = acquire(n).finally(() => waiting.delete(wait));
      waiting.add(wait);
    }
    const gap = random(1000);
    if (gap < 700) spin(random(100_000));
    else if (gap < 995) await new Promise((go) => setTimeout(go, random(3)));
    else spin(10e6);
  }
  await Promise.all(waiting);
}

/** The control thread stands still for as long as it takes to read this. */
const INDIGESTIBLE = new Map(Array.from({ length: 150_000 }, (_, i) => [`key ${i}`, { i }]));

async function changeAndStall(epoch: bigint, rpc: string, terms: Terms[]): Promise<void> {
  const now = (): number => Number(process.hrtime.bigint() - epoch);
  const cores = runtime.snapshot().rpcs[0]!.qpsLimit / runtime.config().host.rpcs[rpc]!.qpsPerCore;
  for (let i = 0; i < CHANGES; i++) {
    if (i % 20 === 10) await postMessageToThread(controlThreadId(runtime), INDIGESTIBLE);
    const qps = [1000, 4000, 500, 2000][i % 4]!;
    const burst = [60, 20, 200][i % 3]!;
    const fromNs = now();
    await runtime.updateConfig({ host: { rpcs: { [rpc]: { qpsPerCore: qps / cores, burst } } } });
    terms.push({ qps, burst, fromNs, toNs: now() });
    await pause(15);
  }
}

async function runLoad(clock: 'precise' | 'coarse'): Promise<{
  grants: Grant[];
  terms: Terms[];
  refusals: number;
  aborts: number;
}> {
  const rpc = 'commit';
  const burst = 60;
  runtime = await createRuntime({ host: { rpcs: { [rpc]: { qpsPerCore: 500, burst, clock } } } });
  const words = new Int32Array(new SharedArrayBuffer(20));
  const log = new Float64Array(new SharedArrayBuffer(LOG_RECORDS * RECORD_WORDS * 8));
  const epoch = process.hrtime.bigint();
  const qps = runtime.snapshot().rpcs[0]!.qpsLimit;
  const terms: Terms[] = [{ qps, burst, fromNs: 0, toNs: 0 }];
  const common = { threads: THREADS, rpc, epoch, words, log };
  const threads = Array.from({ length: THREADS }, (_, thread) =>
    startThread<void, Load>(runtime.handle(), useEveryVerb, { ...common, thread }),
  );
  while (Atomics.load(words, 0) < THREADS) await pause(5);
  await changeAndStall(epoch, rpc, terms);
  Atomics.store(words, 4, 1);
  await Promise.all(threads.map(({ done }) => done));
  const records = Math.min(words[1]!, LOG_RECORDS);
  const grants = Array.from({ length: records }, (_, i) => {
    const record = log.subarray(i * RECORD_WORDS, (i + 1) * RECORD_WORDS);
    const [thread, fromNs, toNs, n, askedNs] = record;
    return { thread: thread!, fromNs: fromNs!, toNs: toNs!, n: n!, askedNs: askedNs! };
  }).filter(
    // Who reserves waits alone, and nothing tells him of a new rate.
    ({ askedNs, fromNs, toNs }) =>
      askedNs === fromNs || !terms.some((term) => term.fromNs <= toNs && term.toNs >= askedNs),
  );
  return { grants, terms, refusals: words[2]!, aborts: words[3]! };
}

/** Times that the bucket went from one thread to another. */
function handovers(grants: readonly Grant[]): number {
  const inOrder = [...grants].sort((a, b) => a.toNs - b.toNs);
  return inOrder.filter(({ thread }, i) => i > 0 && thread !== inOrder[i - 1]!.thread).length;
}

interface Race {
  readonly rpcs: readonly string[];
  readonly tries: number;
  readonly threads: number;
  readonly epoch: bigint;
  /** [0]: arrivals at the starting line, of all rounds. */
  readonly words: Int32Array;
}

/** In each round all threads start together on a full bucket of its own, each trying for its share and more. */
async function race({
  spillway,
  handle,
  data,
}: ThreadSide<Race>): Promise<{ granted: number; firstNs: number; lastNs: number }[]> {
  const gate = spillway.attach(handle);
  return data.rpcs.map((rpc, round) => {
    const limiter = gate.limiter(rpc);
    let [granted, firstNs, lastNs] = [0, Number.POSITIVE_INFINITY, 0];
    Atomics.add(data.words, 0, 1);
    Atomics.notify(data.words, 0);
    const start = (round + 1) * data.threads;
    for (let here = Atomics.load(data.words, 0); here < start; here = Atomics.load(data.words, 0))
      Atomics.wait(data.words, 0, here);
    for (let i = 0; i < data.tries; i++) {
      if (!limiter.tryAcquire()) continue;
      granted += 1;
      lastNs = Number(process.hrtime.bigint() - data.epoch);
      firstNs = Math.min(firstNs, lastNs);
    }
    return { granted, firstNs, lastNs };
  });
}

it('8 threads that race for a bucket take its burst to the last permit', async () => {
  const rounds = 6;
  const burst = 20_000;
  const rpcs = Array.from({ length: rounds }, (_, round) => `round_${round}`);
  const perHour = { qpsPerCore: 0.01, burst };
  runtime = await createRuntime({
    host: { rpcs: Object.fromEntries(rpcs.map((rpc) => [rpc, perHour])) },
  });
  const words = new Int32Array(new SharedArrayBuffer(4));
  const data = { rpcs, tries: 10_000, threads: THREADS, epoch: process.hrtime.bigint(), words };
  const threads = Array.from({ length: THREADS }, () =>
    startThread<Awaited<ReturnType<typeof race>>, Race>(runtime.handle(), race, data),
  );
  const results = await Promise.all(threads.map(({ done }) => done));
  const contended = rpcs.filter((_, round) => {
    const spans = results
      .map((thread) => thread[round]!)
      .filter(({ granted }) => granted > 0)
      .sort((a, b) => a.firstNs - b.firstNs);
    return spans.some(({ firstNs }, i) => i > 0 && firstNs < spans[i - 1]!.lastNs);
  });
  for (let round = 0; round < rounds; round++) {
    const granted = results.reduce((sum, thread) => sum + thread[round]!.granted, 0);
    expect(granted, rpcs[round]).toBe(burst);
  }
  expect(contended.length).toBeGreaterThanOrEqual(2);
  expect(runtime.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
});

describe.each(['precise', 'coarse'] as const)(
  '8 threads on one bucket by the %s clock',
  (clock) => {
    it('are granted at most burst + qps * elapsed in every window, through changes, stalls and aborts', async () => {
      const { grants, terms, refusals, aborts } = await runLoad(clock);
      const { rpcs, conservation, maxLagMs, controlRestarts } = runtime.snapshot();

      const lagNs = clock === 'coarse' ? maxLagMs * 1e6 : 0;
      const tightest = tightestWindow(grants, terms, lagNs);
      expect(tightest.excess, JSON.stringify(tightest)).toBeLessThanOrEqual(1e-3);

      expect(new Set(grants.map(({ thread }) => thread)).size).toBe(THREADS);
      expect(handovers(grants)).toBeGreaterThan(100);
      expect(refusals).toBeGreaterThan(100);
      expect(aborts).toBeGreaterThan(10);
      if (clock === 'coarse') expect(maxLagMs).toBeGreaterThan(10);
      expect(rpcs[0]!.returned + rpcs[0]!.lost).toBeGreaterThan(0);
      expect(conservation).toMatchObject({ ok: true, held: 0 });
      expect(controlRestarts).toBe(0);
    });
  },
);

it('an abort after a stall of the thread mints nothing: a slot is not handed to who came after its time', async () => {
  const emissionMs = 50;
  runtime = await createRuntime({
    host: { rpcs: { one: { qpsPerCore: 1000 / emissionMs / availableParallelism(), burst: 1 } } },
  });
  const { gate } = runtime;
  expect(gate.tryAcquire('one')).toBe(true);
  const abort = new AbortController();
  const gone = expect(gate.acquire('one', { signal: abort.signal })).rejects.toBe('gone');
  // Its slot passes, and the bucket fills up again.
  for (const end = performance.now() + 4 * emissionMs; performance.now() < end; );
  const before = performance.now();
  const late = gate.acquire('one').then(() => performance.now() - before);
  abort.abort('gone');
  const extra = gate.tryAcquire('one') ? 1 : 0;
  const elapsedMs = await late;
  await gone;
  // The bucket holds one permit: whoever comes second waits for the next.
  expect(extra).toBeLessThanOrEqual(elapsedMs / emissionMs);
  const { conservation, rpcs } = runtime.snapshot();
  expect(rpcs[0]).toMatchObject({ spent: 2 + extra, lost: 1 });
  expect(conservation).toMatchObject({ ok: true, held: 0 });
});
