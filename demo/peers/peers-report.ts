import { percentile, rounded } from '../report/figures.js';
import { deadPeer, failingPeer, type PeersScenario, type Phase, phases } from './peers-scenario.js';
import type { PeersRun, PhaseRecord } from './run-peers.js';

export interface PeersFigures {
  /** While one peer hangs and one answers errors. */
  readonly p99Ms: number;
  readonly p50Ms: number;
  readonly readsPerSecond: number;
  readonly servedByPeers: number;
  readonly servedByFallback: number;
  readonly attemptsToDeadPeer: number;
  readonly attemptsToFailingPeer: number;
  readonly attemptsToGoodPeer: number;
  /** Once both are well again: share of the reads that peers served. */
  readonly healedByPeersRatio: number;
}

export interface PeersReport {
  readonly without: PeersFigures;
  readonly with: PeersFigures;
}

export function summarisePeers(run: PeersRun, scenario: PeersScenario): PeersFigures {
  const { broken, healed } = run.phases;
  const attempts = (peer: number) => broken.attempts[peer] ?? 0;
  return {
    p99Ms: rounded(percentile(broken.latenciesMs, 0.99), 2),
    p50Ms: rounded(percentile(broken.latenciesMs, 0.5), 2),
    readsPerSecond: rounded((broken.reads * 1000) / scenario.durationsMs.broken, 1),
    servedByPeers: broken.byPeer,
    servedByFallback: broken.byFallback,
    attemptsToDeadPeer: attempts(deadPeer),
    attemptsToFailingPeer: attempts(failingPeer),
    attemptsToGoodPeer: attempts(2),
    healedByPeersRatio: rounded(healed.byPeer / Math.max(healed.reads, 1), 4),
  };
}

/** What must be so whatever the machine; empty when all is well. */
export function findPeerFaults(
  run: PeersRun,
  scenario: PeersScenario,
  hasBreaker: boolean,
): string[] {
  const name = hasBreaker ? 'with breaker' : 'without';
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string) => {
    if (!holds) faults.push(`${name}: ${fault}`);
  };
  for (const phase of phases) {
    const { reads, byPeer, byFallback, wrong } = run.phases[phase];
    expect(reads > 0, `nothing was read while ${phase}`);
    expect(byPeer + byFallback === reads, `${reads} reads, but ${byPeer} + ${byFallback} served`);
    expect(wrong === 0, `${wrong} reads gave another block`);
  }
  const sent = (peer: number) =>
    phases.reduce((sum, phase) => sum + (run.phases[phase].attempts[peer] ?? 0), 0);
  for (const [peer, { served, failed }] of run.books.entries()) {
    expect(
      served + failed <= sent(peer),
      `${sent(peer)} attempts to peer ${peer}, which answered ${served + failed}`,
    );
  }
  if (!hasBreaker) return faults;
  expect(run.openAtEnd === 0, `${run.openAtEnd} circuits still open after both were healed`);
  const bound = mostAttemptsToDead(scenario);
  const { attempts } = run.phases.broken;
  expect(
    (attempts[deadPeer] ?? 0) <= bound,
    `${attempts[deadPeer]} attempts to the dead peer, at most ${bound} may be`,
  );
  return faults;
}

/** Until it opens, the threshold and whoever is under way; then one probe each cooldown. */
export function mostAttemptsToDead(scenario: PeersScenario): number {
  const { failureThreshold, threads, cooldownMs, durationsMs } = scenario;
  return failureThreshold + threads + Math.ceil(durationsMs.broken / cooldownMs);
}

export function renderPeersTable(report: PeersReport, scenario: PeersScenario): string {
  const row = (name: string, read: (figures: PeersFigures) => number) =>
    `${name.padEnd(38)}${String(read(report.without)).padStart(12)}${String(read(report.with)).padStart(12)}`;
  const ratio = report.with.p99Ms / report.without.p99Ms;
  const bound = mostAttemptsToDead(scenario);
  const goal = (what: string, got: number, most: number) =>
    `${what.padEnd(38)}${String(got).padStart(12)}  at most ${most}: ${got <= most ? 'met' : 'MISSED'}`;
  return [
    `${'one peer hangs, one answers errors'.padEnd(38)}${'without'.padStart(12)}${'with'.padStart(12)}`,
    '-'.repeat(62),
    row('reads/s', (f) => f.readsPerSecond),
    row('p50 of reads, ms', (f) => f.p50Ms),
    row('p99 of reads, ms', (f) => f.p99Ms),
    row('attempts to the peer that hangs', (f) => f.attemptsToDeadPeer),
    row('attempts to the peer with errors', (f) => f.attemptsToFailingPeer),
    row('attempts to the good peer', (f) => f.attemptsToGoodPeer),
    row('reads served by peers', (f) => f.servedByPeers),
    row('reads served by the fallback', (f) => f.servedByFallback),
    row('healed: share served by peers', (f) => f.healedByPeersRatio),
    '-'.repeat(62),
    goal('p99 of reads, with / without', rounded(ratio, 4), 0.1),
    goal('attempts to the peer that hangs, with', report.with.attemptsToDeadPeer, bound),
    '',
  ].join('\n');
}

export function renderPhase(phase: Phase, record: PhaseRecord): string {
  const { reads, byPeer, byFallback, attempts } = record;
  return `  ${phase.padEnd(7)} ${reads} reads, ${byPeer} by peers, ${byFallback} by the fallback; attempts ${attempts.join(' + ')}`;
}
