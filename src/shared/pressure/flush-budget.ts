import type { LevelZeroTriggers } from './level-zero-triggers.js';

/**
 * The hard tier: whether what waits to be flushed would push the engine to its trigger, so that the next batch must be
 * refused before it is accepted. All memtables count as files to come, because each of them is one soon.
 *
 * @param pendingBytes accepted, not yet in the engine
 * @param rejected a flush was refused, and none has gone through since
 */
export function wouldExceedFlushBudget(
  triggers: LevelZeroTriggers,
  l0: number,
  pendingBytes: number,
  rejected: boolean,
): boolean {
  if (rejected) return true;
  const trigger = engineTrigger(triggers);
  if (trigger === undefined) return false;
  const pendingFiles = filesOf(pendingBytes, triggers.writeBufferSize);
  return l0 + pendingFiles + triggers.maxWriteBufferNumber >= trigger;
}

/** Level-0 files at which the engine first holds writers up; undefined: it never does. */
export function engineTrigger({
  l0SlowdownWritesTrigger,
  l0StopWritesTrigger,
}: LevelZeroTriggers): number | undefined {
  if (l0SlowdownWritesTrigger > 0) return l0SlowdownWritesTrigger;
  return l0StopWritesTrigger > 0 ? l0StopWritesTrigger : undefined;
}

function filesOf(bytes: number, fileBytes: number): number {
  if (!(fileBytes > 0)) return 0;
  // By remainder: a rounded quotient could lose the last, barely begun file.
  const rest = bytes % fileBytes;
  return (bytes - rest) / fileBytes + (rest > 0 ? 1 : 0);
}
