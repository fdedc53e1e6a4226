// One of the threads of stampede.mjs.
import { parentPort, workerData } from 'node:worker_threads';
import { attach } from '../../dist/index.js';

const { handle, thread, threads, calls, rounds, rpc } = workerData;
/** @type {Int32Array} [0]: arrivals; [1 + round]: attempts that went out; then refusals */
const words = workerData.words;
const gate = attach(handle);
let arrivals = 0;

/** All threads go on together. */
function meet() {
  arrivals += threads;
  Atomics.add(words, 0, 1);
  Atomics.notify(words, 0);
  for (let here = Atomics.load(words, 0); here < arrivals; here = Atomics.load(words, 0)) {
    Atomics.wait(words, 0, here);
  }
}

for (let round = 0; round < rounds; round += 1) {
  const address = `peer-${round}:5000`;
  const breaker = gate.breaker(address);
  if (thread === 0) for (let i = 0; i < 3; i += 1) breaker.admit().failure();
  meet();
  for (let seen = breaker.state(); seen.state === 'open' && seen.retryAfterMs > 0; ) {
    seen = breaker.state();
  }
  /** @type {() => void} */
  let release = () => {};
  /** @type {Promise<void>} */
  const held = new Promise((resolve) => {
    release = resolve;
  });
  let mine = 0;
  let refused = 0;
  const pending = Array.from({ length: calls }, () =>
    gate
      .call({ rpc, address }, () => {
        mine += 1;
        Atomics.add(words, 1 + round, 1);
        return held;
      })
      .catch((error) => {
        if (error.code !== 'ERR_SPILLWAY_CIRCUIT_OPEN') throw error;
        refused += 1;
      }),
  );
  while (mine + refused < calls) await new Promise((resolve) => setImmediate(resolve));
  Atomics.add(words, 1 + rounds + round, refused);
  meet();
  release();
  await Promise.all(pending);
}
parentPort?.postMessage('done');
