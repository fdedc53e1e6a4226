import { timeLoop } from '../harness/time-loop.mjs';
import { PlainBucket } from '../peers/plain-bucket.mjs';

export function measure() {
  const bucket = new PlainBucket(1e7, 1e12);
  return timeLoop((n) => {
    let granted = 0;
    for (let i = 0; i < n; i += 1) if (bucket.tryAcquire()) granted += 1;
    return granted;
  });
}
