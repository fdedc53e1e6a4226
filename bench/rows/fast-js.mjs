import { timeLoop } from '../harness/time-loop.mjs';
import { FastSharedBucket } from '../peers/fast-shared-bucket.mjs';
import { startFastBucket } from '../peers/start-fast-bucket.mjs';

/** @param {SharedArrayBuffer} buffer @returns {(n: number) => number} */
export function contender(buffer) {
  const bucket = new FastSharedBucket(buffer);
  return (n) => {
    let granted = 0;
    for (let i = 0; i < n; i += 1) if (bucket.tryAcquire()) granted += 1;
    return granted;
  };
}

export async function measure() {
  const { buffer, stop } = await startFastBucket();
  const sample = await timeLoop(contender(buffer));
  await stop();
  return sample;
}
