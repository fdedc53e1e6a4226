// gate.call with nobody looking, and with everybody: stretches of both take turns in one process, so that they share its
// heap, its optimised code and what else the machine is doing.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { MessagePort, Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createPrometheusMetrics } from '../../dist/adapters/prometheus.js';
import { createRuntime } from '../../dist/index.js';
import { openArena } from '../../dist/shared/arena.js';
import { RUNTIME_EVENTS } from '../../dist/workers/runtime-events.js';
import { median } from '../harness/statistics.mjs';

const STRETCH_MS = 1000;
const PAIRS = 6;
/** Calls between two turns of the loop, a millisecond or so. */
const BATCH = 500;
const ALLOCATION_STRETCHES = 300;
const MESSAGE_CALLS = 50_000;
/** Two events each: a circuit is opened by hand, and closed. */
const EVENTS_EVERY_MS = 200;

/** What may be switched on for a stretch. @type {Record<string, readonly (keyof typeof OBSERVERS)[]>} */
const SETS = {
  all: ['events', 'state', 'prometheus', 'admin'],
  // The same again: what two equal stretches differ by.
  nothing: [],
};

/** What `OBSERVE` of the environment names, against nothing. */
export async function measure() {
  const set = SETS[process.env['OBSERVE'] ?? 'all'];
  if (set === undefined) throw new RangeError(`no such set: ${process.env['OBSERVE']}`);
  const sent = countMessages();
  const qpsPerCore = Math.floor(1e7 / availableParallelism());
  const runtime = await createRuntime({
    host: { rpcs: { bench: { qpsPerCore, burst: 1e12 } } },
    tables: { enabled: true, rpcs: ['bench'] },
    retry: { maxAttempts: 3 },
    ...(set.length > 0 && { logger: pino({ level: 'debug' }, { write: () => undefined }) }),
  });
  const { gate } = runtime;
  const breaker = gate.breaker('10.0.0.9:1');
  const attempt = async () => 1;
  const batch = async (/** @type {number} */ n) => {
    let right = 0;
    for (let i = 0; i < n; i += 1) {
      const call = { rpc: 'bench', table: 10086, address: '10.0.0.7:5000' };
      if ((await gate.call(call, attempt)) === 1) right += 1;
    }
    if (right !== n) throw new Error(`${n - right} of ${n} calls came out wrong`);
  };
  const happen = () =>
    setInterval(() => {
      breaker.open();
      breaker.close();
    }, EVENTS_EVERY_MS);

  /** ns of this thread per call over a stretch of time, all that it does in it for whoever looks included. */
  const stretch = async () => {
    let calls = 0;
    const start = performance.now();
    const spentNs = threadNs();
    while (performance.now() - start < STRETCH_MS) {
      await batch(BATCH);
      calls += BATCH;
      await turn();
    }
    const ns = (threadNs() - spentNs) / calls;
    return { ns, callsPerSecond: calls / ((performance.now() - start) / 1000) };
  };

  /** Bytes that one call allocates: the median of many short stretches, as a collection spoils the few it falls into. */
  const allocation = async () => {
    const bytes = [];
    for (let i = 0; i < ALLOCATION_STRETCHES; i += 1) {
      const before = getHeapStatistics().used_heap_size;
      await batch(BATCH);
      bytes.push((getHeapStatistics().used_heap_size - before) / BATCH);
      await turn();
    }
    return median(bytes);
  };

  /** Messages of this thread, of the control thread to it, and through its ring, while it does nothing but call. */
  const messages = async () => {
    const before = sent();
    const ringBefore = ringHead(runtime);
    for (let done = 0; done < MESSAGE_CALLS; done += BATCH) {
      await batch(BATCH);
      await turn();
    }
    return sent() - before + ringHead(runtime) - ringBefore;
  };

  await stretch();
  /** @typedef {{ ns: number, callsPerSecond: number }} Stretch */
  const off = /** @type {Stretch[]} */ ([]);
  const on = /** @type {Stretch[]} */ ([]);
  for (let pair = 0; pair < PAIRS; pair += 1) {
    for (const isOn of pair % 2 === 0 ? [false, true] : [true, false]) {
      const stop = isOn ? await startAll(runtime, set) : async () => undefined;
      const events = happen();
      (isOn ? on : off).push(await stretch());
      clearInterval(events);
      await stop();
    }
  }
  const bytesOff = await allocation();
  const messagesOff = await messages();
  const stop = await startAll(runtime, set);
  // Everybody has looked once.
  await sleep(1200);
  const bytesOn = await allocation();
  const messagesOn = await messages();
  await stop();
  const { conservation } = runtime.snapshot();
  if (!conservation.ok) throw new Error(`not conserved: ${JSON.stringify(conservation)}`);
  await runtime.close();
  return {
    threads: 1,
    ops: PAIRS,
    nsPerOp: median(on.map(({ ns }) => ns)),
    off: off.map(({ ns }) => ns),
    on: on.map(({ ns }) => ns),
    ratios: on.map(({ ns }, pair) => ns / (off[pair]?.ns ?? Number.NaN)),
    // Of this thread, in a second: on a machine that gives it only a part of one, the ratio is that much worse.
    lookMs: on.map(
      ({ ns, callsPerSecond }, pair) =>
        ((ns - (off[pair]?.ns ?? Number.NaN)) * callsPerSecond) / 1e6,
    ),
    core: on.map(({ ns, callsPerSecond }) => (ns * callsPerSecond) / 1e9),
    bytesOff,
    bytesOn,
    messagesOff,
    messagesOn,
  };
}

/** @typedef {import('../../dist/index.js').Runtime} Runtime */

const OBSERVERS = {
  /** @param {Runtime} runtime */
  events(runtime) {
    const listener = () => undefined;
    for (const name of RUNTIME_EVENTS) {
      runtime.on(name, listener);
      subscribe(`spillway:${name}`, listener);
    }
    const leave = runtime.onRecorded(listener);
    return async () => {
      leave();
      for (const name of RUNTIME_EVENTS) {
        runtime.off(name, listener);
        unsubscribe(`spillway:${name}`, listener);
      }
    };
  },
  /** @param {Runtime} runtime */
  state(runtime) {
    const look = () => void JSON.stringify(runtime.state());
    const timer = setInterval(look, 1000);
    setTimeout(look, 300);
    return async () => clearInterval(timer);
  },
  /** @param {Runtime} runtime */
  prometheus(runtime) {
    const register = new Registry();
    createPrometheusMetrics(runtime, { register });
    const timer = setInterval(() => void register.metrics(), 1000);
    setTimeout(() => void register.metrics(), 500);
    return async () => clearInterval(timer);
  },
  /** A dashboard that follows the events, and a scraper, in a thread of their own. @param {Runtime} runtime */
  async admin(runtime) {
    const server = await runtime.admin.listen({ port: 0 });
    const client = new Worker(new URL('./admin-client.mjs', import.meta.url), {
      workerData: server.url,
    });
    await once(client, 'message');
    return async () => {
      await client.terminate();
      await server.close();
    };
  },
};

/** @param {Runtime} runtime @param {readonly (keyof typeof OBSERVERS)[]} set */
async function startAll(runtime, set) {
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  for (const name of set) stops.push(await OBSERVERS[name](runtime));
  return async () => {
    for (const stop of stops) await stop();
  };
}

/** Processor time of this thread, so that other processes do not count; where nobody says, time. */
function threadNs() {
  try {
    const [ns] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(ns);
  } catch {
    return performance.now() * 1e6;
  }
}

/** Counts what this thread posts, and what the control thread reports to it. */
function countMessages() {
  let count = 0;
  for (const type of [MessagePort, Worker]) {
    const { postMessage } = type.prototype;
    type.prototype.postMessage = /** @type {never} */ (
      /** @this {MessagePort} @param {...unknown} args */
      function counted(...args) {
        count += 1;
        return Reflect.apply(postMessage, this, args);
      }
    );
  }
  const heard = () => {
    count += 1;
  };
  process.on('worker', (worker) => worker.on('message', heard));
  return () => count;
}

/** Records that all threads have sent so far. @param {Runtime} runtime */
function ringHead(runtime) {
  const { i32, layout } = openArena(runtime.handle().arena);
  let sum = 0;
  for (let place = 0; place < layout.capacity.threads; place += 1)
    sum += Atomics.load(i32, layout.thread(place).ring >>> 2);
  return sum;
}
