// One of the threads of contend.mjs.
import { parentPort, workerData } from 'node:worker_threads';
import { GO, READY, STOP } from './contend.mjs';

const { module, data, warmMs } = workerData;
/** @type {Int32Array} */
const control = workerData.control;
const { contender } = await import(module);
/** @type {(n: number) => number} */
const run = await contender(data);
const CHUNK = 2000;
let all = 0;

function now() {
  return Number(process.hrtime.bigint());
}

function chunk() {
  const right = run(CHUNK);
  if (right !== CHUNK) throw new Error(`${CHUNK - right} of ${CHUNK} operations came out wrong`);
  all += CHUNK;
}

// Warm until everybody has, so that nobody warms up alone.
const warm = performance.now() + warmMs;
while (performance.now() < warm) chunk();
Atomics.add(control, READY, 1);
while (Atomics.load(control, GO) === 0) chunk();
const before = all;
const start = now();
while (Atomics.load(control, STOP) === 0) chunk();
const end = now();
parentPort?.postMessage({ ops: all - before, all, start, end });
