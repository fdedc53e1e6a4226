// One of the threads of contend.mjs.
import { workerData } from 'node:worker_threads';
import { READY, STOP } from './contend.mjs';

const { module, data, warmMs } = workerData;
/** @type {Int32Array} */
const control = workerData.control;
/** Operations so far, in its first place. @type {Float64Array} */
const done = workerData.done;
const { contender } = await import(module);
/** @type {(n: number) => number} */
const run = await contender(data);
const CHUNK = 2000;

function chunk() {
  const right = run(CHUNK);
  if (right !== CHUNK) throw new Error(`${CHUNK - right} of ${CHUNK} operations came out wrong`);
  done[0] = (done[0] ?? 0) + CHUNK;
}

// Warm until everybody has, so that nobody is measured alone.
const warm = performance.now() + warmMs;
while (performance.now() < warm) chunk();
Atomics.add(control, READY, 1);
while (Atomics.load(control, STOP) === 0) chunk();
