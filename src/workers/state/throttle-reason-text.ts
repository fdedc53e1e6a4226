import type { ThrottleReason } from '../../actors/throttle/throttle-reason.js';

/** `412 BUSY in 3000 ms` */
export function throttleReasonText(reason: ThrottleReason): string {
  switch (reason.kind) {
    case 'busy':
      return `${reason.count} BUSY in ${Math.round(reason.overMs)} ms`;
    case 'quiet':
      return `quiet for ${Math.round(reason.forMs)} ms`;
    case 'switched-off':
      return 'switched off';
  }
}
