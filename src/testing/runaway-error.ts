import { SpillwayError } from '../shared/errors.js';

/** Virtual time found no rest: actors keep sending to each other, or timers keep firing, without end. */
export class RunawayError extends SpillwayError {
  constructor(message: string) {
    super('ERR_SPILLWAY_RUNAWAY', message);
  }
}
