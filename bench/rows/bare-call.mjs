import { timeAsyncLoop } from '../harness/async-loop.mjs';

export function measure() {
  const attempt = async () => 1;
  return timeAsyncLoop(async (n) => {
    let right = 0;
    for (let i = 0; i < n; i += 1) if ((await attempt()) === 1) right += 1;
    return right;
  });
}
