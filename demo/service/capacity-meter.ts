/** What the service can do, as work: an accepted call is one unit, a refusal a part of one. */
export interface CapacityParams {
  readonly unitsPerSecond: number;
  /** Units that a refusal costs: reading, parsing and answering it is work, too. */
  readonly refusalUnits: number;
  /** Work that may be outstanding, in ms at full capacity; a call beyond it is refused. */
  readonly backlogMs: number;
}

/** When the work taken so far will be done; never earlier than it was. */
export interface CapacityState {
  readonly busyUntilMs: number;
}

/**
 * One work meter per unit of time: offered X per second past the capacity C, with a refusal at 0.2,
 * the service accepts (C - 0.2 X) / 0.8 per second, and none at all from 5 C on.
 */
export function decideAdmission(
  params: CapacityParams,
  state: CapacityState,
  nowMs: number,
): { readonly accepted: boolean; readonly state: CapacityState } {
  const unitMs = 1000 / params.unitsPerSecond;
  const startMs = Math.max(nowMs, state.busyUntilMs);
  const accepted = startMs - nowMs + unitMs <= params.backlogMs;
  const doneMs = startMs + (accepted ? unitMs : unitMs * params.refusalUnits);
  // Refusals past the whole capacity do not pile up for ever: a full socket queue drops the rest.
  return { accepted, state: { busyUntilMs: Math.min(doneMs, nowMs + 2 * params.backlogMs) } };
}
