/**
 * The seam between `gate.call` and what may delay or refuse a call. Stages are asked in order; each takes something or
 * nothing, and when a later one refuses, what the earlier ones took is given back in reverse order. Once all have
 * agreed, everything is spent together and the attempt starts.
 */
import type { TableKey } from '../shared/table-key.js';

/** One call on its way through the stages. */
export interface Admitted {
  readonly rpc: string;
  /** The key as the caller gave it. */
  readonly table: TableKey | undefined;
  readonly weight: number;
  readonly signal: AbortSignal | undefined;
}

/** What a stage took for a call. */
export interface Hold {
  /** The attempt starts now. */
  spend(): void;
  /** It will not start. */
  cancel(): void;
  readonly waitedNs: number;
}

export interface AdmissionStage {
  /** Takes what the call needs, waiting at most `maxWaitMs`; undefined when it needs nothing. Throws or rejects to refuse. */
  enter(call: Admitted, maxWaitMs: number): Hold | undefined | Promise<Hold | undefined>;
}

/**
 * Takes the call through all stages, with one patience for all of them, and spends what they took. At once when nobody
 * has to wait; otherwise the promise resolves when the attempt may start.
 */
export function admit(
  stages: readonly AdmissionStage[],
  call: Admitted,
  maxWaitMs: number,
): undefined | Promise<void> {
  const holds: Hold[] = [];
  try {
    for (const [at, stage] of stages.entries()) {
      const entered = stage.enter(call, maxWaitMs);
      if (entered instanceof Promise) return goOn(stages, call, maxWaitMs, holds, at, entered);
      if (entered !== undefined) holds.push(entered);
    }
  } catch (refusal) {
    cancelAll(holds);
    throw refusal;
  }
  for (const hold of holds) hold.spend();
  return undefined;
}

/** From the first stage on that makes the call wait. */
async function goOn(
  stages: readonly AdmissionStage[],
  call: Admitted,
  maxWaitMs: number,
  holds: Hold[],
  at: number,
  waiting: Promise<Hold | undefined>,
): Promise<void> {
  let leftMs = maxWaitMs;
  const keep = (hold: Hold | undefined): void => {
    if (hold === undefined) return;
    holds.push(hold);
    leftMs = Math.max(leftMs - hold.waitedNs / 1e6, 0);
  };
  try {
    keep(await waiting);
    for (const stage of stages.slice(at + 1)) {
      // A wait ends in a later turn: the caller may have gone in between.
      call.signal?.throwIfAborted();
      const entered = stage.enter(call, leftMs);
      keep(entered instanceof Promise ? await entered : entered);
    }
    call.signal?.throwIfAborted();
  } catch (refusal) {
    cancelAll(holds);
    throw refusal;
  }
  for (const hold of holds) hold.spend();
}

function cancelAll(holds: Hold[]): void {
  for (const hold of holds.reverse()) hold.cancel();
}
