import type { BreakerConfig } from '../../../src/actors/breaker/breaker-config.js';
import type { CircuitPort, ForgottenCircuit } from '../../../src/actors/breaker/ports.js';

interface FakeCircuit {
  readonly open: boolean;
  readonly touchedAtMs: number;
  readonly probe?: { readonly owner: number; readonly atMs: number };
}

/** Circuits as an actor sees them, in a map; writes down what is asked of it. */
export class FakeCircuits implements CircuitPort {
  readonly circuits: Map<string, FakeCircuit> = new Map();
  readonly calls: string[] = [];
  epochs = 0;

  put(address: string, circuit: FakeCircuit): void {
    this.circuits.set(address, circuit);
    this.epochs += 1;
  }

  epoch(): number {
    return this.epochs;
  }

  size(): number {
    return this.circuits.size;
  }

  sweep(config: BreakerConfig, nowMs: number) {
    this.calls.push(`sweep at ${nowMs}`);
    const idle = [...this.circuits].filter(
      ([, { touchedAtMs }]) => nowMs - touchedAtMs >= config.idleMs,
    );
    return { forgotten: idle.map(([address]) => this.#forget(address)), kept: this.size() };
  }

  makeRoom(maxAddresses: number): readonly ForgottenCircuit[] {
    this.calls.push(`makeRoom for ${maxAddresses}`);
    const surplus = [...this.circuits.keys()].slice(0, Math.max(this.size() - maxAddresses, 0));
    return surplus.map((address) => this.#forget(address));
  }

  releaseOverdue(config: BreakerConfig, nowMs: number) {
    this.calls.push(`releaseOverdue at ${nowMs}`);
    let nextMs: number | undefined;
    const lost = this.#release(({ atMs }) => {
      const deadlineMs = atMs + config.probeTimeoutMs;
      if (nowMs >= deadlineMs) return true;
      nextMs = Math.min(nextMs ?? deadlineMs, deadlineMs);
      return false;
    });
    return { lost, nextMs };
  }

  releaseOwned(owner: number): readonly string[] {
    return this.#release((probe) => probe.owner === owner);
  }

  clear(): readonly ForgottenCircuit[] {
    return [...this.circuits.keys()].map((address) => this.#forget(address));
  }

  clearWindows(): void {
    this.calls.push('clearWindows');
  }

  #release(isLost: (probe: { owner: number; atMs: number }) => boolean): string[] {
    const lost: string[] = [];
    for (const [address, { probe, ...circuit }] of this.circuits) {
      if (probe === undefined || !isLost(probe)) continue;
      this.circuits.set(address, circuit);
      lost.push(address);
    }
    return lost;
  }

  #forget(address: string): ForgottenCircuit {
    const wasOpen = this.circuits.get(address)?.open === true;
    this.circuits.delete(address);
    return { address, wasOpen };
  }
}
