/**
 * Why a message reached nobody:
 * - `no-such-actor`: its address is unknown or its actor has ended
 * - `stopped`: it waited in the mailbox of an actor that ended
 * - `rejected`, `dropped-newest`, `dropped-oldest`: the mailbox was full
 * - `late-reply`: the ask that it answers was over
 * - `system-stopping`: sent from outside while the system stops or after
 */
export type DeadLetterReason =
  | 'no-such-actor'
  | 'stopped'
  | 'rejected'
  | 'dropped-newest'
  | 'dropped-oldest'
  | 'late-reply'
  | 'system-stopping';

export interface DeadLetter {
  readonly reason: DeadLetterReason;
  /** Path of the receiver. */
  readonly path: string;
  readonly message: unknown;
  readonly atMs: number;
}

export type DeadLetterCounts = Readonly<Record<DeadLetterReason, number>>;

export function noDeadLetters(): Record<DeadLetterReason, number> {
  return {
    'no-such-actor': 0,
    stopped: 0,
    rejected: 0,
    'dropped-newest': 0,
    'dropped-oldest': 0,
    'late-reply': 0,
    'system-stopping': 0,
  };
}
