import type { CircuitOutcome } from '../../../src/shared/breaker/settle-permit.js';

export interface NaiveParams {
  readonly failureThreshold: number;
  readonly cooldownMs: number;
  readonly probeTimeoutMs: number;
  readonly maxAddresses: number;
  readonly idleMs: number;
}

interface NaivePermit {
  readonly address: string;
  /** Times that the address had recovered, or was dropped after an opening. */
  readonly period: number;
  readonly probe: boolean;
  readonly atMs: number;
}

interface NaiveCircuit {
  failures: number;
  openedAtMs: number | undefined;
  probe: NaivePermit | undefined;
  touchedAtMs: number;
}

/** What a breaker is to do, said once more and in another way: no words, no epochs, every permit an object. */
export class NaiveBreaker {
  params: NaiveParams;
  readonly #circuits = new Map<string, NaiveCircuit>();
  readonly #periods = new Map<string, number>();

  constructor(params: NaiveParams) {
    this.params = params;
  }

  get tracked(): number {
    return this.#circuits.size;
  }

  admit(address: string, nowMs: number): NaivePermit | number {
    const circuit = this.#circuits.get(address);
    const period = this.#periods.get(address) ?? 0;
    const permit = { address, period, probe: circuit?.openedAtMs !== undefined, atMs: nowMs };
    if (circuit === undefined) return permit;
    if (circuit.openedAtMs !== undefined) {
      const coolMs = circuit.openedAtMs + this.params.cooldownMs - nowMs;
      const probeMs =
        circuit.probe === undefined
          ? coolMs
          : circuit.probe.atMs + this.params.probeTimeoutMs - nowMs;
      if (probeMs > 0) return probeMs;
      circuit.probe = permit;
    }
    circuit.touchedAtMs = nowMs;
    return permit;
  }

  settle(permit: NaivePermit, outcome: CircuitOutcome, nowMs: number): void {
    const { address } = permit;
    const circuit = this.#circuits.get(address);
    if (permit.probe) {
      if (circuit === undefined || circuit.probe !== permit) return;
      if (nowMs >= permit.atMs + this.params.probeTimeoutMs) return;
      circuit.touchedAtMs = nowMs;
      circuit.probe = undefined;
      if (outcome === 'success') this.#forget(address, true);
      else if (outcome === 'failure') circuit.openedAtMs = nowMs;
      return;
    }
    if (permit.period !== (this.#periods.get(address) ?? 0) || outcome === 'ignored') return;
    if (circuit?.openedAtMs !== undefined) return;
    if (outcome === 'success') {
      this.#circuits.delete(address);
      return;
    }
    const failures = (circuit?.failures ?? 0) + 1;
    const opens = failures >= this.params.failureThreshold;
    this.#circuits.set(address, {
      failures,
      openedAtMs: opens ? nowMs : undefined,
      probe: undefined,
      touchedAtMs: nowMs,
    });
    this.#makeRoom();
  }

  state(address: string, nowMs: number): { state: string; failures: number; retryAfterMs: number } {
    const circuit = this.#circuits.get(address);
    if (circuit?.openedAtMs === undefined) {
      return { state: 'closed', failures: circuit?.failures ?? 0, retryAfterMs: 0 };
    }
    const untilMs =
      circuit.probe === undefined
        ? circuit.openedAtMs + this.params.cooldownMs
        : circuit.probe.atMs + this.params.probeTimeoutMs;
    return {
      state: circuit.probe === undefined ? 'open' : 'half_open',
      failures: 0,
      retryAfterMs: Math.max(untilMs - nowMs, 0),
    };
  }

  sweep(nowMs: number): number {
    let removed = 0;
    for (const [address, circuit] of [...this.#circuits]) {
      const { openedAtMs, probe, touchedAtMs } = circuit;
      if (nowMs - touchedAtMs < this.params.idleMs) continue;
      if (probe !== undefined && nowMs < probe.atMs + this.params.probeTimeoutMs) continue;
      if (
        probe === undefined &&
        openedAtMs !== undefined &&
        nowMs < openedAtMs + this.params.cooldownMs
      )
        continue;
      this.#forget(address, openedAtMs !== undefined);
      removed += 1;
    }
    return removed;
  }

  #makeRoom(): void {
    while (this.#circuits.size > this.params.maxAddresses) {
      const rank = ({ openedAtMs, probe }: NaiveCircuit): number =>
        openedAtMs === undefined ? 0 : probe === undefined ? 1 : 2;
      const [first] = [...this.#circuits].sort(
        ([, a], [, b]) => rank(a) - rank(b) || a.touchedAtMs - b.touchedAtMs,
      );
      const [address, circuit] = first as [string, NaiveCircuit];
      this.#forget(address, circuit.openedAtMs !== undefined);
    }
  }

  #forget(address: string, wasOpen: boolean): void {
    this.#circuits.delete(address);
    if (wasOpen) this.#periods.set(address, (this.#periods.get(address) ?? 0) + 1);
  }
}
