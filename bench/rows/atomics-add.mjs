import { timeLoop } from '../harness/time-loop.mjs';

export async function measure() {
  const word = new Int32Array(new SharedArrayBuffer(64));
  const sample = await timeLoop((n) => {
    const before = Atomics.load(word, 0);
    for (let i = 0; i < n; i += 1) Atomics.add(word, 0, 1);
    return (Atomics.load(word, 0) - before) | 0;
  });
  return sample;
}
