import type { PeerDemoOptions } from './peer-options.js';

/** What happens to the peers: first nothing, then one hangs and one answers errors, then both are well again. */
export const phases = ['calm', 'broken', 'healed'] as const;
export type Phase = (typeof phases)[number];

/** Peer 0 hangs, peer 1 answers errors, peer 2 stays well. */
export const peerCount = 3;
export const deadPeer = 0;
export const failingPeer = 1;

export interface PeersScenario {
  readonly threads: number;
  readonly keys: number;
  readonly durationsMs: Readonly<Record<Phase, number>>;
  readonly failureThreshold: number;
  readonly cooldownMs: number;
  readonly connectTimeoutMs: number;
  /** What a peer takes for an answer, and the store behind them all. */
  readonly peerDelayMs: number;
  readonly storeDelayMs: number;
  /** Connections that a peer's kernel accepts while the peer does not. */
  readonly backlog: number;
  /** Of a thread, between two reads. */
  readonly pauseMs: number;
}

export function createPeersScenario({ seconds, threads }: PeerDemoOptions): PeersScenario {
  const runMs = (seconds * 1000) / 2;
  return Object.freeze({
    threads,
    keys: 60,
    durationsMs: { calm: runMs * 0.15, broken: runMs * 0.6, healed: runMs * 0.25 },
    failureThreshold: 3,
    cooldownMs: Math.max(runMs / 10, 500),
    connectTimeoutMs: 200,
    peerDelayMs: 1,
    storeDelayMs: 4,
    backlog: 4,
    pauseMs: 1,
  });
}

/** The peers that have a block, the best first: two of the three, each pair as often as the others. */
export function replicasOf(key: number): readonly number[] {
  return [key % peerCount, (key + 1) % peerCount];
}

export function blockOf(key: number): string {
  return `block-${key}`;
}
