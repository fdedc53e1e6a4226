/**
 * The proactive tier: how hard an LSM store is pressed, as a number in [0, 1) that goes with its answers. The rule is the
 * seed's (Apache Fluss, key-value backpressure): a ramp from a trigger of one's own up to the engine's.
 */

/** A write that the engine would have stalled is worth this much until one goes through. */
export const REJECTED_PRESSURE = 0.8;

/** 1 is kept for the hard rejection. */
export const MAX_PRESSURE = 0.999;

export interface PressureRamp {
  /** Level-0 files from which pressure is reported. */
  readonly slowdownTrigger: number;
  /** Level-0 files from which the engine itself slows down; at or below `slowdownTrigger` there is no ramp. */
  readonly l0SlowdownWritesTrigger: number;
}

/** Whether the triggers leave room for a ramp. Without one, only refused writes raise the pressure. */
export function hasRamp({ slowdownTrigger, l0SlowdownWritesTrigger }: PressureRamp): boolean {
  return l0SlowdownWritesTrigger > slowdownTrigger;
}

/** Pressure in [0, 0.999] at `l0` files. `rejected`: a flush was refused, and none has gone through since. */
export function gaugePressure(ramp: PressureRamp, l0: number, rejected: boolean): number {
  const steepness = rampAt(ramp, l0);
  return Math.min(rejected ? Math.max(steepness, REJECTED_PRESSURE) : steepness, MAX_PRESSURE);
}

function rampAt(ramp: PressureRamp, l0: number): number {
  const { slowdownTrigger, l0SlowdownWritesTrigger } = ramp;
  if (!hasRamp(ramp) || !(l0 >= slowdownTrigger)) return 0;
  const window = l0SlowdownWritesTrigger - slowdownTrigger;
  return Math.min(l0 - slowdownTrigger, window - 1) / window;
}
