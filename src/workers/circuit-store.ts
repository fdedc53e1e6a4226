/** The arena's circuits as the breaker's actor sees them. Control thread only. */
import type { BreakerConfig } from '../actors/breaker/breaker-config.js';
import type { CircuitPort, CircuitReport, ForgottenCircuit } from '../actors/breaker/ports.js';
import { CircuitKeeper, type ListedCircuit } from '../shared/breaker/circuit-keeper.js';
import type { CircuitMemory } from '../shared/breaker/circuit-memory.js';
import { wholeTick } from '../shared/breaker/circuit-state.js';
import { cooldownEndMs } from '../shared/breaker/cooldown.js';
import type { DirectoryKeeper } from '../shared/directory-keeper.js';
import { BY_HAND, RECORD } from './report-ring.js';

export interface CircuitStoreParts {
  readonly memory: CircuitMemory;
  /** Of the directory of `memory`. */
  readonly keeper: DirectoryKeeper;
  /** Circuits were forgotten: the directory wants upkeep. */
  readonly onForgotten: () => void;
}

export class CircuitStore implements CircuitPort {
  readonly #parts: CircuitStoreParts;
  readonly #keeper: CircuitKeeper;

  constructor(parts: CircuitStoreParts) {
    this.#parts = parts;
    this.#keeper = new CircuitKeeper(parts.memory, parts.keeper);
  }

  epoch(): number {
    return this.#keeper.epoch();
  }

  size(): number {
    return this.#keeper.size();
  }

  sweep(
    config: BreakerConfig,
    nowMs: number,
  ): { readonly forgotten: readonly ForgottenCircuit[]; readonly kept: number } {
    const { forgotten, kept } = this.#keeper.sweep(config, nowMs);
    return { forgotten: this.#forget(forgotten), kept };
  }

  makeRoom(maxAddresses: number): readonly ForgottenCircuit[] {
    return this.#forget(this.#keeper.makeRoom(maxAddresses));
  }

  clear(): readonly ForgottenCircuit[] {
    return this.#forget(this.#keeper.clear());
  }

  releaseOverdue(
    config: BreakerConfig,
    nowMs: number,
  ): { readonly lost: readonly string[]; readonly nextMs: number | undefined } {
    const { lost, nextMs } = this.#keeper.releaseOverdue(config, nowMs);
    return { lost: lost.map((circuit) => this.#addressOf(circuit)), nextMs };
  }

  releaseOwned(owner: number): readonly string[] {
    if (this.#keeper.size() === 0) return [];
    // It may have made an address tracked without saying so.
    this.#keeper.beginEpoch();
    return this.#keeper.releaseOwned(owner).map((circuit) => this.#addressOf(circuit));
  }

  clearWindows(): void {
    this.#keeper.clearWindows();
  }

  /** What a record of a thread's ring says; undefined: nothing of circuits, or of one that is forgotten already. */
  read(
    kind: number,
    index: number,
    generation: number,
    atMs: number,
    count: number,
    config: BreakerConfig,
  ): CircuitReport | undefined {
    if (kind === RECORD.CIRCUIT_TRACKED) return { kind: 'tracked' };
    const { directory, cells } = this.#parts.memory;
    if (kind === RECORD.BUSY || index >= cells) return undefined;
    const cell = directory.cellAt(index);
    if (directory.generationOf(cell) !== (generation | 0)) return undefined;
    const address = directory.describe(cell).key;
    const byHand = count === BY_HAND;
    switch (kind) {
      case RECORD.CIRCUIT_OPENED:
      case RECORD.CIRCUIT_REOPENED: {
        const failedProbes = kind === RECORD.CIRCUIT_OPENED ? 0 : count;
        const opening = { openedAtMs: wholeTick(atMs), failedProbes };
        const endMs = cooldownEndMs(opening, config, this.#keeper.salt(index));
        const byCalls = failedProbes === 0 ? 'failures' : 'probe-failed';
        return {
          kind: 'opened',
          address,
          reason: byHand ? 'by-hand' : byCalls,
          failures: byHand ? 0 : count,
          retryAfterMs: byHand ? config.cooldownMs : endMs - atMs,
          atMs,
        };
      }
      case RECORD.CIRCUIT_HALF_OPEN:
        return { kind: 'half-open', address, atMs };
      case RECORD.CIRCUIT_CLOSED:
        return { kind: 'closed', address, reason: byHand ? 'by-hand' : 'probed', atMs };
      default:
        return undefined;
    }
  }

  #forget(circuits: readonly ListedCircuit[]): ForgottenCircuit[] {
    if (circuits.length > 0) this.#parts.onForgotten();
    return circuits.map((circuit) => ({
      address: this.#addressOf(circuit),
      wasOpen: circuit.state.kind !== 'closed',
    }));
  }

  #addressOf({ index }: ListedCircuit): string {
    const { directory } = this.#parts.memory;
    return directory.describe(directory.cellAt(index)).key;
  }
}
