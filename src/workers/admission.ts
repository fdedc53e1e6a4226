/**
 * The seam between `gate.call` and what may delay or refuse an attempt. First every stage may refuse as long as nothing is
 * taken; then they are asked in order, each takes something or nothing, and when a later one refuses, what the earlier
 * ones took is given back in reverse order. Once all have agreed, everything is spent together and the attempt starts.
 */
import type { StageName } from '../shared/explanation.js';
import type { TableKey } from '../shared/table-key.js';
import { cancelAll, type Hold, type Taken } from './hold.js';
import type { HostLimiter } from './host-limiter.js';

/** One attempt on its way through the stages. */
export interface Admitted {
  readonly rpc: string;
  /** The key as the caller gave it. */
  readonly table: TableKey | undefined;
  /** The peer as the caller gave it. */
  readonly address: string | undefined;
  /** Of the downstream, whose pressure window the call heeds; undefined: of none. */
  readonly bucket?: string | undefined;
  readonly weight: number;
  readonly signal: AbortSignal | undefined;
  /** Of the RPC type, where it is known already. */
  readonly limiter?: HostLimiter;
}

export interface AdmissionStage {
  readonly name: StageName;
  /** Throws to refuse before anything has been taken; without side effects. */
  precheck?(call: Admitted): void;
  /** Takes what the call needs, waiting at most `maxWaitMs`; undefined when it needs nothing. Throws or rejects to refuse. */
  enter(call: Admitted, maxWaitMs: number): Hold | undefined | Promise<Hold | undefined>;
}

/** Told of each stage that had a say and let the attempt through. */
export type OnPassed = (stage: StageName, waitedNs: number) => void;

/**
 * Takes an attempt through all stages, with one patience for all of them: at once when nobody has to wait. What they took
 * is to be spent, or cancelled, together.
 */
export function admit(
  stages: readonly AdmissionStage[],
  call: Admitted,
  maxWaitMs: number,
  onPassed?: OnPassed,
): Taken | undefined | Promise<Taken | undefined> {
  for (let at = 0; at < stages.length; at++) (stages[at] as AdmissionStage).precheck?.(call);
  let taken: Taken | undefined;
  try {
    for (let at = 0; at < stages.length; at++) {
      const stage = stages[at] as AdmissionStage;
      const hold = stage.enter(call, maxWaitMs);
      if (hold === undefined) continue;
      if (hold instanceof Promise)
        return goOn({ stages, call, maxWaitMs, onPassed, taken }, at, hold);
      taken = { hold, before: taken };
      onPassed?.(stage.name, hold.waitedNs);
    }
  } catch (refusal) {
    cancelAll(taken);
    throw refusal;
  }
  return taken;
}

interface Admission {
  readonly stages: readonly AdmissionStage[];
  readonly call: Admitted;
  readonly maxWaitMs: number;
  readonly onPassed: OnPassed | undefined;
  readonly taken: Taken | undefined;
}

/** From the first stage on that makes the attempt wait. */
async function goOn(
  { stages, call, maxWaitMs, onPassed, taken: before }: Admission,
  at: number,
  waiting: Promise<Hold | undefined>,
): Promise<Taken | undefined> {
  let taken = before;
  let leftMs = maxWaitMs;
  const keep = (stage: AdmissionStage, hold: Hold | undefined): void => {
    if (hold === undefined) return;
    taken = { hold, before: taken };
    leftMs = Math.max(leftMs - hold.waitedNs / 1e6, 0);
    onPassed?.(stage.name, hold.waitedNs);
  };
  try {
    keep(stages[at] as AdmissionStage, await waiting);
    for (const stage of stages.slice(at + 1)) {
      // A wait ends in a later turn: the caller may have gone in between.
      call.signal?.throwIfAborted();
      const entered = stage.enter(call, leftMs);
      keep(stage, entered instanceof Promise ? await entered : entered);
    }
  } catch (refusal) {
    cancelAll(taken);
    throw refusal;
  }
  return taken;
}
