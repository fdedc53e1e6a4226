import { describe, expect, it } from 'vitest';
import { CircuitCells } from '../../../src/shared/breaker/circuit-cells.js';
import {
  type CircuitMemory,
  circuitMemoryBytes,
  openCircuitMemory,
} from '../../../src/shared/breaker/circuit-memory.js';
import { Circuits } from '../../../src/shared/breaker/circuits.js';
import { CELL_FIELD } from '../../../src/shared/directory/cell.js';
import { DirectoryKeeper } from '../../../src/shared/directory-keeper.js';
import { explore, type Scenario } from '../../interleaving/explorer.js';
import type { Body, SteppedAtomics, Visible } from '../../interleaving/stepped-thread.js';
import { paramsOf } from './breaker-params.js';

const PARAMS = paramsOf();
const PEER = 'peer:1';
const EPOCH = 0;
const FLAG = 4;
const BASE = 64;
const CELLS = 2;
const NEVER_PASSES = { request: () => 0, passed: () => false };

/** Circuits that several explored threads share. */
class Shared {
  readonly buffer: SharedArrayBuffer = new SharedArrayBuffer(BASE + circuitMemoryBytes(CELLS));
  readonly words: Int32Array = new Int32Array(this.buffer);

  memory(atomics: SteppedAtomics = Atomics): CircuitMemory {
    const place = { buffer: this.buffer, base: BASE, cells: CELLS, epoch: EPOCH };
    return openCircuitMemory(place, atomics);
  }

  circuits(atomics: SteppedAtomics = Atomics, owner = 0): Circuits {
    return new Circuits(this.memory(atomics), owner);
  }

  /** Failures of one thread, one after the other. */
  fail(times: number, nowMs: number, circuits: Circuits = this.circuits()): void {
    const place = circuits.placeOf(PEER);
    for (let i = 0; i < times; i += 1) {
      const permit = circuits.admit(place, PARAMS, nowMs);
      if (permit.kind !== 'refused') circuits.settle(permit, 'failure', PARAMS, nowMs);
    }
  }

  /** The word of the only circuit. */
  word(): bigint {
    return new CircuitCells(this.buffer).word(this.memory().directory.cellAt(0));
  }

  /** Removes the only circuit, unless it has changed since `word`: what the sweep does to an idle one. */
  remove(word: bigint, atomics: SteppedAtomics): boolean {
    const { directory } = this.memory(atomics);
    const cells = new CircuitCells(this.buffer, atomics);
    const keeper = new DirectoryKeeper(this.buffer, BASE, CELLS, NEVER_PASSES, atomics);
    return keeper.remove(0, (index) => cells.word(directory.cellAt(index)) !== word);
  }

  view(nowMs: number) {
    const circuits = this.circuits();
    return circuits.view(circuits.placeOf(PEER), PARAMS, nowMs);
  }

  admits(nowMs: number): string {
    const circuits = this.circuits();
    return circuits.admit(circuits.placeOf(PEER), PARAMS, nowMs).kind;
  }

  /** The circuits' words, the epoch and the flag. */
  readonly visible: Visible = (words, index) => {
    const byte = index * words.BYTES_PER_ELEMENT;
    return byte < BASE || this.#cells.includes(byte);
  };

  /** The same, and what says whether a cell is alive. */
  readonly visibleRemoval: Visible = (words, index) => {
    const byte = index * words.BYTES_PER_ELEMENT;
    return this.visible(words, index) || this.#cells.includes(byte - CELL_FIELD.GENERATION);
  };

  readonly #cells: readonly number[] = Array.from({ length: CELLS }, (_, i) =>
    this.memory().directory.cellAt(i),
  );
}

const admit =
  (shared: Shared, owner: number, nowMs: number): Body =>
  (atomics) => {
    const circuits = shared.circuits(atomics, owner);
    return circuits.admit(circuits.placeOf(PEER), PARAMS, nowMs).kind;
  };

const failOnce =
  (shared: Shared, owner: number, nowMs: number): Body =>
  (atomics) => {
    shared.fail(1, nowMs, shared.circuits(atomics, owner));
    return true;
  };

const failing = (shared: Shared): number => shared.view(10).consecutiveFailures;

describe('circuits, every interleaving', () => {
  it('let exactly one of three threads through when the cooldown is over', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      shared.fail(3, 0);
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [0, 1, 2].map((owner) => admit(shared, owner, 1000)),
        checkEnd(results) {
          expect(results.filter((kind) => kind === 'probe')).toHaveLength(1);
          expect(results.filter((kind) => kind === 'refused')).toHaveLength(2);
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(10);
  });

  it('lose nothing but the probe with a thread that is killed anywhere in a stampede', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      shared.fail(3, 0);
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [0, 1, 2].map((owner) => admit(shared, owner, 1000)),
        mortal: [0],
        checkEnd(results) {
          const probes = results.filter((kind) => kind === 'probe').length;
          expect(probes).toBeLessThanOrEqual(1);
          // Whoever holds it, it is out: until its deadline nobody else is let through, then one is.
          expect(shared.admits(1499)).toBe('refused');
          expect(shared.admits(1501)).toBe('probe');
          expect(shared.admits(1501)).toBe('refused');
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(10);
  });

  it('count three failures of three threads, none twice, none lost, and open', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [0, 1, 2].map((owner) => failOnce(shared, owner, 5)),
        checkEnd() {
          expect(shared.view(5).state).toBe('open');
          expect(shared.admits(5)).toBe('refused');
        },
      };
    };
    expect(explore(create, { preemptions: 2 }).ends).toBeGreaterThan(5);
  });

  it('are whole when a thread is killed anywhere in a failure: it counts once, or not at all', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [failOnce(shared, 0, 5), failOnce(shared, 1, 5)],
        mortal: [0],
        checkEnd([first]) {
          const counted = failing(shared);
          expect(counted).toBeGreaterThanOrEqual(1);
          expect(counted).toBeLessThanOrEqual(2);
          if (first !== undefined) expect(counted).toBe(2);
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(5);
  });

  it('refuse the next call of a thread that had found the address healthy, once the failure is settled', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      shared.fail(2, 0);
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [
          (atomics) => {
            shared.fail(1, 5, shared.circuits(atomics, 0));
            atomics.store(shared.words, FLAG / 4, 1);
          },
          (atomics) => {
            const circuits = shared.circuits(atomics, 1);
            const place = circuits.placeOf(PEER);
            circuits.admit(place, PARAMS, 5);
            const settled = atomics.load(shared.words, FLAG / 4) === 1;
            return { settled, next: circuits.admit(place, PARAMS, 5).kind };
          },
        ],
        checkEnd([, second]) {
          const { settled, next } = second as { settled: boolean; next: string };
          if (settled) expect(next).toBe('refused');
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(5);
  });

  it('tell a thread that knows of no cell that there is one now', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [
          (atomics) => {
            shared.fail(3, 5, shared.circuits(atomics, 0));
            atomics.store(shared.words, FLAG / 4, 1);
          },
          (atomics) => {
            const circuits = shared.circuits(atomics, 1);
            const place = circuits.placeOf(PEER);
            circuits.admit(place, PARAMS, 5);
            const settled = atomics.load(shared.words, FLAG / 4) === 1;
            return { settled, next: circuits.admit(place, PARAMS, 5).kind };
          },
        ],
        checkEnd([, second]) {
          const { settled, next } = second as { settled: boolean; next: string };
          if (settled) expect(next).toBe('refused');
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(5);
  });

  it('count a failure once though its circuit is being forgotten', () => {
    const counts = new Set<number>();
    const create = (): Scenario => {
      const shared = new Shared();
      shared.fail(1, 0);
      const idle = shared.word();
      return {
        buffer: shared.buffer,
        visible: shared.visibleRemoval,
        threads: [(atomics) => shared.remove(idle, atomics), failOnce(shared, 1, 5)],
        mortal: [0],
        checkEnd([removed]) {
          counts.add(failing(shared));
          if (removed === true) expect(failing(shared)).toBe(1);
          if (removed === false) expect(failing(shared)).toBe(2);
          if (removed === undefined) expect([1, 2]).toContain(failing(shared));
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(5);
    expect(counts).toEqual(new Set([1, 2]));
  });

  it('never let a second probe out though the circuit is being forgotten', () => {
    const outcomes = new Set<string>();
    const create = (): Scenario => {
      const shared = new Shared();
      shared.fail(3, 0);
      const idle = shared.word();
      return {
        buffer: shared.buffer,
        visible: shared.visibleRemoval,
        threads: [
          (atomics) => shared.remove(idle, atomics),
          admit(shared, 1, 1000),
          admit(shared, 2, 1000),
        ],
        checkEnd([removed, ...kinds]) {
          outcomes.add(`${removed} ${kinds.toSorted()}`);
          const probes = kinds.filter((kind) => kind === 'probe').length;
          // Forgotten, there is no circuit and nothing to probe; else there is one probe.
          expect(probes).toBe(removed === true ? 0 : 1);
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(5);
    expect(outcomes.size).toBeGreaterThan(1);
  });

  it('settle a probe at its deadline, or give it to the next, never both', () => {
    const create = (): Scenario => {
      const shared = new Shared();
      shared.fail(3, 0);
      const circuits = shared.circuits();
      const probe = circuits.admit(circuits.placeOf(PEER), PARAMS, 1000);
      if (probe.kind === 'refused') throw new Error('there is no probe');
      return {
        buffer: shared.buffer,
        visible: shared.visible,
        threads: [
          (atomics) => {
            const mine = shared.circuits(atomics, 0);
            const permit = { ...probe, place: mine.placeOf(PEER) };
            return mine.settle(permit, 'success', PARAMS, 1499.9).effect;
          },
          // Its clock is a little ahead.
          admit(shared, 1, 1500),
          admit(shared, 2, 1500),
        ],
        checkEnd([settled, ...kinds]) {
          const probes = kinds.filter((kind) => kind === 'probe').length;
          expect(probes).toBe(settled === 'closed' ? 0 : 1);
          expect(shared.view(1501).state).toBe(settled === 'closed' ? 'closed' : 'half_open');
        },
      };
    };
    expect(explore(create).ends).toBeGreaterThan(5);
  });
});
