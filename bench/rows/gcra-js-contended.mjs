import { contend } from '../harness/contend.mjs';
import { startSharedBucket } from '../peers/start-shared-bucket.mjs';

const PEER = new URL('../peers/start-shared-bucket.mjs', import.meta.url).href;

export async function measure() {
  const { stop, ...bucket } = await startSharedBucket('gcra');
  const { sample } = await contend(PEER, bucket);
  await stop();
  return sample;
}
