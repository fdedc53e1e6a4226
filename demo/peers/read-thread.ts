// Entry of the threads that read: one read after the other, each from the peers that have the block, else from the store.
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { attach, type Classifier, type Gate, type RuntimeHandle } from 'spillway';
import { createRandom } from '../load/random.js';
import { fetchBlock } from './block-client.js';
import type { Answer } from './peer-protocol.js';
import { blockOf, type PeersScenario, type Phase, replicasOf } from './peers-scenario.js';
import { PhaseBoard } from './phase-board.js';

export interface ReadTask {
  readonly handle: RuntimeHandle;
  readonly scenario: PeersScenario;
  readonly threadIndex: number;
  readonly peers: readonly string[];
  readonly store: string;
  readonly board: SharedArrayBuffer;
}

/** How long each read took, by the phase in which it began, ms. */
export type Latencies = Record<Phase, number[]>;

/** A peer that answers with an internal error has failed, though the transport worked. */
const classify: Classifier<Answer> = (outcome) =>
  outcome.ok && outcome.value.status === 'ok' ? 'success' : 'failure';

class Reader {
  readonly #task: ReadTask;
  readonly #gate: Gate;
  readonly #board: PhaseBoard;
  readonly #latencies: Latencies = { calm: [], broken: [], healed: [] };

  constructor(task: ReadTask) {
    this.#task = task;
    this.#gate = attach(task.handle);
    this.#board = new PhaseBoard(task.board);
  }

  async run(): Promise<Latencies> {
    const { scenario, threadIndex } = this.#task;
    const random = createRandom(threadIndex + 1);
    this.#board.markReady();
    while (!this.#board.stopped) {
      this.#board.addActive(1);
      const { phase } = this.#board;
      if (phase !== undefined) await this.#read(phase, Math.floor(random() * scenario.keys));
      this.#board.addActive(-1);
      await sleep(scenario.pauseMs);
    }
    this.#gate.detach();
    return this.#latencies;
  }

  async #read(phase: Phase, key: number): Promise<void> {
    const { peers, store } = this.#task;
    const candidates = replicasOf(key).map((peer) => peers[peer] as string);
    const start = performance.now();
    const { value, source } = await this.#gate.readFromPeers(
      // In its place among the candidates a recovered peer is found again although another one would do.
      { candidates, classify, probe: 'inOrder' },
      (address, { signal, connected }) => {
        this.#board.addAttempt(phase, peers.indexOf(address));
        return fetchBlock(address, key, { signal, onConnected: connected });
      },
      () => fetchBlock(store, key),
    );
    this.#latencies[phase].push(performance.now() - start);
    this.#board.add(phase, 'reads');
    this.#board.add(phase, source.kind === 'peer' ? 'byPeer' : 'byFallback');
    if (value.status !== 'ok' || value.block !== blockOf(key)) this.#board.add(phase, 'wrong');
  }
}

if (parentPort !== null) {
  parentPort.postMessage(await new Reader(workerData as ReadTask).run());
}
