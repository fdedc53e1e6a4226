/** RPC types as one thread knows them: read from the arena, and read again when a name is new. */
import type { Arena } from '../shared/arena.js';
import { MARK } from '../shared/layout.js';
import { readRpcNames, rpcCount, rpcMarks } from '../shared/rpc-names.js';
import { WaitHistograms } from './wait-histograms.js';

export interface Rpc {
  readonly id: number;
  readonly name: string;
  /** Whether its tables are slowed when the downstream is busy. */
  loadRelated(): boolean;
}

export class RpcTable {
  readonly #arena: Arena;
  readonly #bytes: Uint8Array;
  readonly #byName = new Map<string, Rpc>();
  readonly #waits: WaitHistograms[] = [];

  constructor(arena: Arena) {
    this.#arena = arena;
    this.#bytes = new Uint8Array(arena.buffer);
    this.#reread();
  }

  find(name: string): Rpc | undefined {
    const known = this.#byName.get(name);
    if (known !== undefined || this.#byName.size === rpcCount(this.#arena)) return known;
    this.#reread();
    return this.#byName.get(name);
  }

  all(): Rpc[] {
    if (this.#byName.size !== rpcCount(this.#arena)) this.#reread();
    return [...this.#byName.values()];
  }

  /** Wait histograms of an RPC type, shared by all threads. */
  waits(rpcId: number): WaitHistograms {
    const known = this.#waits[rpcId];
    if (known !== undefined) return known;
    const waits = new WaitHistograms(this.#arena, rpcId);
    this.#waits[rpcId] = waits;
    return waits;
  }

  #reread(): void {
    for (const [id, name] of readRpcNames(this.#arena).entries()) {
      const at = this.#arena.layout.name(id);
      const loadRelated = (): boolean => (rpcMarks(this.#bytes, at) & MARK.LOAD_RELATED) !== 0;
      if (!this.#byName.has(name)) this.#byName.set(name, { id, name, loadRelated });
    }
  }
}
