import { describe, expect, it } from 'vitest';
import { parsePeerDemoOptions } from '../../demo/peers/peer-options.js';
import {
  findPeerFaults,
  mostAttemptsToDead,
  renderPeersTable,
  summarisePeers,
} from '../../demo/peers/peers-report.js';
import {
  createPeersScenario,
  deadPeer,
  failingPeer,
  peerCount,
  replicasOf,
} from '../../demo/peers/peers-scenario.js';
import type { PeersRun, PhaseRecord } from '../../demo/peers/run-peers.js';

const scenario = createPeersScenario(parsePeerDemoOptions([]));

describe('parsePeerDemoOptions', () => {
  it('has the defaults of the guide', () => {
    expect(parsePeerDemoOptions([])).toEqual({
      seconds: 20,
      threads: 4,
      jsonFile: undefined,
      quiet: false,
      help: false,
    });
  });

  it.each([
    ['--seconds 7', "--seconds must be a number from 8 to 3600, got '7'"],
    ['--seconds NaN', "--seconds must be a number from 8 to 3600, got 'NaN'"],
    ['--threads 1.5', "--threads must be an integer from 1 to 32, got '1.5'"],
    ['--threads 0', "--threads must be an integer from 1 to 32, got '0'"],
    ['--nope', "Unknown option '--nope'"],
  ])('refuses %s', (args, message) => {
    expect(() => parsePeerDemoOptions(args.split(' '))).toThrow(message);
  });

  it('refuses an empty path', () => {
    expect(() => parsePeerDemoOptions(['--json', ''])).toThrow(/--json must be the path/);
  });
});

it('gives each pair of peers as many blocks as any other', () => {
  const pairs = new Map<string, number>();
  for (let key = 0; key < scenario.keys; key += 1) {
    const pair = replicasOf(key).join();
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  expect([...pairs.values()]).toEqual([20, 20, 20]);
  expect(new Set([deadPeer, failingPeer, 2])).toHaveLength(peerCount);
});

describe('the report', () => {
  const phase = (parts: Partial<PhaseRecord> = {}): PhaseRecord => ({
    reads: 10,
    byPeer: 8,
    byFallback: 2,
    wrong: 0,
    attempts: [4, 4, 4],
    latenciesMs: [1, 2, 3, 4, 100],
    ...parts,
  });
  const run = (parts: Partial<PeersRun> = {}): PeersRun => ({
    phases: { calm: phase(), broken: phase(), healed: phase() },
    backlogTaken: 5,
    books: Array.from({ length: peerCount }, () => ({ served: 6, failed: 6 })),
    openAtEnd: 0,
    ...parts,
  });

  it('finds nothing wrong where all adds up', () => {
    expect(findPeerFaults(run(), scenario, true)).toEqual([]);
  });

  it.each<[string, Partial<PeersRun>]>([
    ['1 reads gave another block', { phases: { ...run().phases, broken: phase({ wrong: 1 }) } }],
    ['10 reads, but 7 + 2 served', { phases: { ...run().phases, calm: phase({ byPeer: 7 }) } }],
    ['nothing was read while healed', { phases: { ...run().phases, healed: phase({ reads: 0 }) } }],
    ['circuits still open', { openAtEnd: 1 }],
    ['which answered 14', { books: [{ served: 7, failed: 7 }] }],
    [
      'attempts to the dead peer, at most',
      { phases: { ...run().phases, broken: phase({ attempts: [99, 4, 4] }) } },
    ],
  ])('finds: %s', (fault, parts) => {
    expect(findPeerFaults(run(parts), scenario, true).join()).toContain(fault);
  });

  it('allows a probe each cooldown beside the threshold and whoever is under way', () => {
    expect(mostAttemptsToDead(scenario)).toBe(3 + 4 + 6);
  });

  it('shows whether its goals were met', () => {
    const figures = summarisePeers(run(), scenario);
    const without = { ...figures, p99Ms: figures.p99Ms * 20 };
    const table = renderPeersTable({ without, with: figures }, scenario);
    expect(table).toMatch(/p99 of reads, with \/ without +0.05 +at most 0.1: met/);
    expect(renderPeersTable({ without: figures, with: figures }, scenario)).toMatch(/: MISSED/);
  });
});
