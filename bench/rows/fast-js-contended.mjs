import { contend } from '../harness/contend.mjs';
import { startFastBucket } from '../peers/start-fast-bucket.mjs';

export async function measure() {
  const { buffer, stop } = await startFastBucket();
  const { sample } = await contend(new URL('./fast-js.mjs', import.meta.url).href, buffer);
  await stop();
  return sample;
}
