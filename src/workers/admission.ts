/**
 * The seam between `gate.call` and what may delay or refuse an attempt. First every stage may refuse as long as nothing is
 * taken; then they are asked in order, each takes something or nothing, and when a later one refuses, what the earlier
 * ones took is given back in reverse order. Once all have agreed, everything is spent together and the attempt starts.
 */
import type { StageName } from '../shared/explanation.js';
import type { TableKey } from '../shared/table-key.js';
import type { VerdictKind } from '../shared/verdict.js';

/** One attempt on its way through the stages. */
export interface Admitted {
  readonly rpc: string;
  /** The key as the caller gave it. */
  readonly table: TableKey | undefined;
  /** The peer as the caller gave it. */
  readonly address: string | undefined;
  readonly weight: number;
  readonly signal: AbortSignal | undefined;
}

/** What a stage took for an attempt. */
export interface Hold {
  readonly waitedNs: number;
  /** The attempt starts now. */
  spend(): void;
  /** It will not start. */
  cancel(): void;
  /** It has ended, after it was spent; for stages that want to know how. */
  settle?(verdict: VerdictKind): void;
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
): Hold[] | Promise<Hold[]> {
  for (const stage of stages) stage.precheck?.(call);
  const holds: Hold[] = [];
  try {
    for (let at = 0; at < stages.length; at++) {
      const stage = stages[at] as AdmissionStage;
      const entered = stage.enter(call, maxWaitMs);
      if (entered === undefined) continue;
      if (entered instanceof Promise)
        return goOn({ stages, call, maxWaitMs, onPassed, holds }, at, entered);
      holds.push(entered);
      onPassed?.(stage.name, entered.waitedNs);
    }
  } catch (refusal) {
    cancelAll(holds);
    throw refusal;
  }
  return holds;
}

interface Admission {
  readonly stages: readonly AdmissionStage[];
  readonly call: Admitted;
  readonly maxWaitMs: number;
  readonly onPassed: OnPassed | undefined;
  readonly holds: Hold[];
}

/** From the first stage on that makes the attempt wait. */
async function goOn(
  { stages, call, maxWaitMs, onPassed, holds }: Admission,
  at: number,
  waiting: Promise<Hold | undefined>,
): Promise<Hold[]> {
  let leftMs = maxWaitMs;
  const keep = (stage: AdmissionStage, hold: Hold | undefined): void => {
    if (hold === undefined) return;
    holds.push(hold);
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
    cancelAll(holds);
    throw refusal;
  }
  return holds;
}

export function spendAll(holds: readonly Hold[]): void {
  for (const hold of holds) hold.spend();
}

/** In reverse order: each gives back what was taken last. */
export function cancelAll(holds: readonly Hold[]): void {
  for (let at = holds.length - 1; at >= 0; at--) (holds[at] as Hold).cancel();
}

export function settleAll(holds: readonly Hold[], verdict: VerdictKind): void {
  for (const hold of holds) hold.settle?.(verdict);
}
