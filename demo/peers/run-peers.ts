import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createRuntime, type Runtime } from 'spillway';
import { type FullBacklog, fillBacklog } from './full-backlog.js';
import {
  deadPeer,
  failingPeer,
  type PeersScenario,
  type Phase,
  peerCount,
  phases,
} from './peers-scenario.js';
import { PhaseBoard } from './phase-board.js';
import type { Latencies, ReadTask } from './read-thread.js';
import { type PeerBooks, type RunningPeer, startPeer } from './start-peer.js';

export interface PhaseRecord {
  readonly reads: number;
  readonly byPeer: number;
  readonly byFallback: number;
  /** Reads that gave another block. */
  readonly wrong: number;
  /** By peer. */
  readonly attempts: readonly number[];
  readonly latenciesMs: readonly number[];
}

export interface PeersRun {
  readonly phases: Readonly<Record<Phase, PhaseRecord>>;
  /** Connections that the dead peer's kernel took before a connect hung. */
  readonly backlogTaken: number;
  /** What the peers say that they answered. */
  readonly books: readonly PeerBooks[];
  /** Peers whose circuit was not closed at the end. */
  readonly openAtEnd: number;
}

export interface PeersRunInput {
  readonly scenario: PeersScenario;
  readonly breaker: boolean;
  readonly signal: AbortSignal;
  readonly onPhase: (phase: Phase) => void;
}

/** The whole story once, with processes and threads of its own. */
export async function runPeers(input: PeersRunInput): Promise<PeersRun> {
  const { scenario, breaker } = input;
  const { peerDelayMs, storeDelayMs, backlog, failureThreshold, cooldownMs } = scenario;
  const servers: RunningPeer[] = [];
  let runtime: Runtime | undefined;
  try {
    for (let i = 0; i < peerCount; i += 1) servers.push(await startPeer(peerDelayMs, backlog));
    const store = await startPeer(storeDelayMs, 511);
    servers.push(store);
    runtime = await createRuntime({
      breaker: { enabled: breaker, failureThreshold, cooldownMs },
      peers: { connectTimeoutMs: scenario.connectTimeoutMs, connectRetries: 0 },
    });
    const peers = servers.slice(0, peerCount);
    const record = await readThrough(input, runtime, peers, store.address);
    const openAtEnd = peers.filter(
      ({ address }) => runtime?.gate.breaker(address).state().state !== 'closed',
    ).length;
    const books = [];
    for (const server of servers) books.push(await server.stop());
    return { ...record, books: books.slice(0, peerCount), openAtEnd };
  } finally {
    for (const server of servers) server.kill();
    await runtime?.close({ deadlineMs: 0 });
  }
}

async function readThrough(
  { scenario, signal, onPhase }: PeersRunInput,
  runtime: Runtime,
  peers: readonly RunningPeer[],
  store: string,
): Promise<Pick<PeersRun, 'phases' | 'backlogTaken'>> {
  const words = PhaseBoard.allocate();
  const board = new PhaseBoard(words);
  const task = { handle: runtime.handle(), scenario, store, board: words };
  const addresses = peers.map(({ address }) => address);
  const threads = Array.from({ length: scenario.threads }, (_, threadIndex) =>
    startThread({ ...task, threadIndex, peers: addresses }),
  );
  const failed = Promise.race([...threads.map(({ lost }) => lost), ...peers.map((p) => p.lost)]);
  failed.catch(() => undefined);
  let backlog: FullBacklog | undefined;
  try {
    const pass = async (phase: Phase): Promise<void> => {
      onPhase(phase);
      board.begin(phase);
      await Promise.race([sleep(scenario.durationsMs[phase], undefined, { signal }), failed]);
    };
    await Promise.race([until(() => board.ready === threads.length, signal), failed]);
    await pass('calm');
    // Who is connected already would wait for an answer, and not for a connection.
    board.pause();
    await Promise.race([until(() => board.active === 0, signal), failed]);
    (peers[deadPeer] as RunningPeer).freeze();
    backlog = await fillBacklog((peers[deadPeer] as RunningPeer).port);
    await (peers[failingPeer] as RunningPeer).misbehave(true);
    await pass('broken');
    (peers[deadPeer] as RunningPeer).thaw();
    backlog.release();
    await (peers[failingPeer] as RunningPeer).misbehave(false);
    await pass('healed');
    board.stop();
    const latencies = await Promise.race([
      Promise.all(threads.map(({ latencies: all }) => all)),
      failed,
    ]);
    return { phases: recordOf(board, latencies), backlogTaken: backlog.taken };
  } finally {
    board.stop();
    backlog?.release();
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

async function until(holds: () => boolean, signal: AbortSignal): Promise<void> {
  while (!holds()) await sleep(5, undefined, { signal });
}

function startThread(task: ReadTask) {
  const worker = new Worker(new URL('./read-thread.js', import.meta.url), { workerData: task });
  const latencies = new Promise<Latencies>((resolve) => worker.once('message', resolve));
  const lost = new Promise<never>((_, reject) => worker.once('error', reject));
  lost.catch(() => undefined);
  return { worker, latencies, lost };
}

function recordOf(
  board: PhaseBoard,
  latencies: readonly Latencies[],
): Readonly<Record<Phase, PhaseRecord>> {
  const records = phases.map((phase) => [
    phase,
    {
      reads: board.count(phase, 'reads'),
      byPeer: board.count(phase, 'byPeer'),
      byFallback: board.count(phase, 'byFallback'),
      wrong: board.count(phase, 'wrong'),
      attempts: board.attempts(phase),
      latenciesMs: latencies.flatMap((all) => all[phase]),
    },
  ]);
  return Object.fromEntries(records) as Record<Phase, PhaseRecord>;
}
