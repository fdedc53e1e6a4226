// One of the threads of faults.mjs: calls that fail, hang, are aborted or run out of time, until enough have begun or the
// thread is killed.
import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { attach, BusyError } from '../../dist/index.js';
import { drawsOf } from './draws.mjs';

const { handle, seed, calls } = workerData;
/** @type {Int32Array} */
const words = workerData.words;
const gate = attach(handle);
const draw = drawsOf(seed);
const TOGETHER = 12;

/** @template T @param {number} percent @param {() => T} value @returns {T | undefined} */
const maybe = (percent, value) => (draw(100) < percent ? value() : undefined);

/** @returns {import('../../dist/index.js').Verdict} */
function drawVerdict() {
  const kind = draw(6);
  if (kind === 0) throw new Error('classifier');
  if (kind === 1) return { kind: 'refused', retryAfterMs: draw(5) };
  return /** @type {const} */ (['success', 'busy', 'failure', 'ignored'])[kind - 2] ?? 'success';
}

/** @returns {Promise<string> | string} */
function attempt() {
  switch (draw(8)) {
    case 0:
      return 'at once';
    case 1:
      throw new Error('at once');
    case 2:
      return Promise.resolve('soon');
    case 3:
      return Promise.reject(new BusyError('busy', { retryAfterMs: draw(6) }));
    case 4:
    case 5:
      return sleep(draw(12), 'later');
    case 6:
      return sleep(draw(12)).then(() => Promise.reject(new Error('later')));
    default:
      return sleep(60, 'very late');
  }
}

/** Aborts at some time, or at some turn of the microtask queue. @param {AbortController} abort */
async function abortSometime(abort) {
  if (draw(2) === 0) await sleep(draw(15));
  else for (let turns = draw(24); turns > 0; turns -= 1) await undefined;
  abort.abort('gone');
}

async function callOnce() {
  const abort = maybe(40, () => new AbortController());
  const given = {
    table: maybe(50, () => `t${draw(4)}`),
    address: maybe(60, () => `10.0.0.${draw(4)}:80`),
    weight: maybe(30, () => 1 + draw(4)),
    maxWaitMs: maybe(40, () => draw(15)),
    attemptTimeoutMs: maybe(50, () => 1 + draw(10)),
    deadlineMs: maybe(40, () => 1 + draw(30)),
    classify: maybe(25, () => drawVerdict),
    explain: maybe(20, () => true),
    signal: abort?.signal,
  };
  const options = Object.fromEntries(Object.entries(given).filter(([, one]) => one !== undefined));
  if (abort !== undefined) void abortSometime(abort);
  try {
    await gate.call({ rpc: 'bench', ...options }, attempt);
  } catch {
    // Faults are what this is about.
  }
  Atomics.add(words, 1, 1);
}

const running = new Set();
while (Atomics.add(words, 0, 1) < calls) {
  const call = callOnce().finally(() => running.delete(call));
  running.add(call);
  if (running.size >= TOGETHER) await Promise.race(running);
  else if (draw(4) === 0) await sleep(draw(3));
}
await Promise.all(running);
