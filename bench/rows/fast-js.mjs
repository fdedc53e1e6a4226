import { timeLoop } from '../harness/time-loop.mjs';
import { contender, startSharedBucket } from '../peers/start-shared-bucket.mjs';

export async function measure() {
  const bucket = await startSharedBucket('counter');
  const sample = await timeLoop(contender(bucket));
  await bucket.stop();
  return sample;
}
