/** Does one operation over and over until it is terminated, in the middle of whatever it does then. */
import { workerData } from 'node:worker_threads';
import { attach } from '../../dist/workers/attach.js';

/**
 * @typedef {import('../../dist/index.js').Gate} Gate
 * @type {{
 *   operation: string,
 *   handle: import('../../dist/index.js').RuntimeHandle,
 *   words: Int32Array,
 *   seed: number,
 * }}
 */
const { operation, handle, words, seed } = workerData;

let gate = attach(handle);
let n = seed;
const never = new Promise(() => undefined);
const turn = () => new Promise((resolve) => setImmediate(resolve));
const swallow = () => undefined;

/** @type {Record<string, () => unknown>} */
const operations = {
  tryAcquire() {
    gate.tryAcquire('fast');
    gate.tryAcquire('coarse');
    gate.tryAcquire('slow', 3);
  },
  acquire() {
    const signal = AbortSignal.timeout(n % 3);
    gate.acquire('slow', { n: 1 + (n % 3), signal }).catch(swallow);
    gate.acquire('fast').catch(swallow);
    return n % 8 === 0 ? turn() : undefined;
  },
  acquireSync() {
    try {
      gate.acquireSync('slow', { n: 1 + (n % 2), maxWaitMs: n % 5 });
    } catch {
      // Refused: the next one may come through.
    }
  },
  reserve() {
    gate.reserve('fast', 1 + (n % 5));
    gate.reserve('coarse');
  },
  call() {
    /** @type {import('../../dist/index.js').Classifier} */
    const classify = () => (n % 4 === 0 ? 'busy' : 'success');
    gate.call({ rpc: 'fast', table: n % 5, maxWaitMs: 5, classify }, swallow).catch(swallow);
    gate.call({ rpc: 'slow', table: n % 5, maxWaitMs: 5 }, () => never).catch(swallow);
    return n % 8 === 0 ? turn() : undefined;
  },
  insert() {
    gate.call({ rpc: 'fast', table: `key ${n}` }, swallow).catch(swallow);
    gate.call({ rpc: 'fast', table: `${'long '.repeat(30)}${n}` }, swallow).catch(swallow);
    return n % 16 === 0 ? turn() : undefined;
  },
  attach() {
    gate.detach();
    try {
      gate = attach(handle);
    } catch {
      // Places that were left are not free yet.
    }
    return turn();
  },
};

const run = /** @type {() => unknown} */ (operations[operation]);
for (; ; n++) {
  const pending = run();
  // From here on we may be terminated.
  if (n === seed) Atomics.add(words, 0, 1);
  if (pending !== undefined) await pending;
  else if (n % 64 === 0) await turn();
}
