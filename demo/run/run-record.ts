import type { ServiceAccount } from '../service/protocol.js';

/** Counts since the start of the load, read by the main thread while it runs. */
export interface Sample {
  readonly atMs: number;
  readonly busy: number;
  readonly ok: number;
  /** By hot table: attempts that went to the service, and calls that arrived. */
  readonly hotSent: readonly number[];
  readonly hotArrived: readonly number[];
  readonly coldSent: number;
}

export interface LimitInForce {
  readonly rpc: string;
  readonly table: string;
  readonly qpsLimit: number;
}

/** A change of the limits in force. */
export interface TimelineEntry {
  readonly atMs: number;
  readonly level: number;
  readonly limits: readonly LimitInForce[];
}

/** Final counts of one group of tables. */
export interface GroupCounts {
  readonly arrived: number;
  readonly ok: number;
  readonly failed: number;
  readonly heldBack: number;
  readonly shed: number;
}

/** What one run of the load gave. */
export interface RunRecord {
  readonly durationMs: number;
  readonly sent: number;
  readonly busy: number;
  /** Attempts without an answer; the service may or may not have done them. */
  readonly unanswered: number;
  readonly cold: GroupCounts;
  readonly hot: GroupCounts;
  readonly coldLatenciesMs: readonly number[];
  readonly hotLatenciesMs: readonly number[];
  readonly samples: readonly Sample[];
  readonly service: ServiceAccount;
}
