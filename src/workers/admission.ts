/**
 * The seam between `gate.call` and what may delay or refuse a call. Stages are asked in order; each takes something or
 * nothing, and when a later one refuses, what the earlier ones took is given back in reverse order. Once all have
 * agreed, everything is spent together and the attempt starts.
 */

/** One call on its way through the stages. */
export interface Admitted {
  readonly rpc: string;
  /** The key as the caller gave it. */
  readonly table: bigint | number | string | undefined;
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

/** Takes the call through all stages, with one patience for all of them, and spends what they took. */
export async function admit(
  stages: readonly AdmissionStage[],
  call: Admitted,
  maxWaitMs: number,
): Promise<void> {
  const holds: Hold[] = [];
  let leftMs = maxWaitMs;
  try {
    for (const stage of stages) {
      const entered = stage.enter(call, leftMs);
      const hold = entered instanceof Promise ? await entered : entered;
      if (hold === undefined) continue;
      holds.push(hold);
      leftMs = Math.max(leftMs - hold.waitedNs / 1e6, 0);
      // A wait ends in a later turn: the caller may have gone in between.
      call.signal?.throwIfAborted();
    }
  } catch (refusal) {
    for (const hold of holds.reverse()) hold.cancel();
    throw refusal;
  }
  for (const hold of holds) hold.spend();
}
