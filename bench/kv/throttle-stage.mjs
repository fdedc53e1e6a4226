// What the throttle stage adds to a batch: the answer's pressure becomes a window, the window is asked before the next
// batch, and the wait is accounted. Eight buckets, every other one under pressure.
import { BucketQueue } from '../../dist/actors/kv/writer/bucket-queue.js';
import { BufferRoom } from '../../dist/actors/kv/writer/buffer-room.js';
import { ThrottleStage } from '../../dist/actors/kv/writer/throttle-stage.js';
import { timeLoop } from '../harness/time-loop.mjs';

export function measure() {
  const stage = new ThrottleStage(3000, false);
  const room = new BufferRoom(2 ** 25);
  const queues = Array.from({ length: 8 }, (_, bucket) => new BucketQueue('t', bucket, room));
  let nowMs = 0;
  return timeLoop((n) => {
    let right = 0;
    for (let i = 0; i < n; i += 1) {
      const queue = /** @type {BucketQueue} */ (queues[i & 7]);
      const isPressed = (i & 1) === 1;
      stage.signal(queue, isPressed ? 0.5 : 0, nowMs);
      const waitMs = stage.remainingMs(queue, nowMs);
      nowMs += 1000;
      const leftMs = stage.remainingMs(queue, nowMs);
      stage.passed(queue, nowMs - 1000);
      if (waitMs === (isPressed ? 750 : 0) && leftMs === 0) right += 1;
    }
    return right;
  });
}
