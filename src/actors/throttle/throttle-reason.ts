/** Why table limits were changed, as it was when that was decided. */
export type ThrottleReason =
  | {
      readonly kind: 'busy';
      /** BUSY answers in the last `overMs`, which is the interval between upgrades; at least 1. */
      readonly count: number;
      readonly overMs: number;
    }
  | {
      readonly kind: 'quiet';
      /** Since the last BUSY, or since the control thread began to listen. */
      readonly forMs: number;
    }
  | { readonly kind: 'switched-off' };
