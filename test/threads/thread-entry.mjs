/** Runs a function of a test in a thread of its own, on the built package. */
import { parentPort, workerData } from 'node:worker_threads';

const { body, data, handle, entry } = workerData;
const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const spillway = await import(entry);
// A function of the test file, sent as its own text.
const { run } = await import(
  `data:text/javascript,${encodeURIComponent(`export const run = ${body}`)}`
);

/** @type {unknown[]} */
const told = [];
/** @type {((value: unknown) => void)[]} */
const listening = [];
port.on('message', (value) => {
  const listener = listening.shift();
  if (listener === undefined) told.push(value);
  else listener(value);
});
port.unref();

const thread = {
  spillway,
  handle,
  data,
  /** @param {string} url */
  load: (url) => import(url),
  /** @param {unknown} value */
  say: (value) => port.postMessage({ said: value }),
  /** What the test told us, one after the other. Keeps the thread alive while it waits. */
  async told() {
    if (told.length > 0) return told.shift();
    port.ref();
    try {
      return await new Promise((resolve) => listening.push(resolve));
    } finally {
      if (listening.length === 0) port.unref();
    }
  },
};

port.postMessage({ done: await run(thread) });
