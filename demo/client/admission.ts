import type { RpcName } from '../scenario.js';

export interface AttemptTarget {
  readonly rpc: RpcName;
  readonly table: string;
}

/**
 * The only thing that differs between the two runs: what stands around each attempt. It lets the
 * attempt go at once, later, or not at all (then it throws).
 */
export type Admission = <T>(target: AttemptTarget, attempt: () => Promise<T>) => Promise<T>;

/** Without Spillway every attempt goes at once. */
export const admitAtOnce: Admission = (_target, attempt) => attempt();

/** A thread's admission, until it is closed. */
export interface AdmissionPoint {
  readonly admit: Admission;
  close(): void;
}

/** Whether an admission refused the attempt: nothing went to the service, and nothing will. */
export function isHeldBack(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && error.code === 'ERR_SPILLWAY_RATE_LIMIT_EXCEEDED'
  );
}
