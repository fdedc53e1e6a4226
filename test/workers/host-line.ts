/** The host limiters of several threads for the RPC type `read`, under virtual time, on a configuration that can change. */
import type { Arena } from '../../src/shared/arena.js';
import { STATS } from '../../src/shared/kernel/port.js';
import { HEADER } from '../../src/shared/layout.js';
import { applyConfig, type InForce } from '../../src/workers/apply-config.js';
import { applyPatch } from '../../src/workers/config/apply-patch.js';
import type { ConfigPatch, RpcOptions } from '../../src/workers/config/options.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';
import { HostLimiter } from '../../src/workers/host-limiter.js';
import { RpcLimiter } from '../../src/workers/rpc-limiter.js';
import { RpcTable } from '../../src/workers/rpc-table.js';
import { VirtualClock, virtualThread } from './virtual-thread.js';

const CORES = 1;

export class HostLines {
  readonly arena: Arena;
  readonly clock: VirtualClock;
  readonly #rpcs: RpcTable;
  readonly #limiters: HostLimiter[] = [];
  readonly #bound: RpcLimiter[] = [];
  #inForce: InForce;

  constructor(arena: Arena, read: RpcOptions, clock: VirtualClock = new VirtualClock()) {
    this.arena = arena;
    this.clock = clock;
    this.#inForce = { config: resolveConfig({ host: { rpcs: { read } } }, CORES), version: 1 };
    this.#apply();
    this.#rpcs = new RpcTable(arena);
  }

  /** The limiter of one more thread. */
  host({ isMainThread = false }: { readonly isMainThread?: boolean } = {}): HostLimiter {
    const thread = virtualThread(this.arena, this.clock, this.#limiters.length);
    const rpc = this.#rpcs.find('read');
    if (rpc === undefined) throw new Error('no rpc');
    const limiter = new HostLimiter(thread, rpc, this.#rpcs.waits(rpc.id), isMainThread);
    this.#limiters.push(limiter);
    return limiter;
  }

  /** One with the fast path in front. */
  bound(): RpcLimiter {
    const host = this.host();
    const { kernel, layout } = this.arena;
    const { stats } = layout.thread(this.#limiters.length - 1);
    const bound = new RpcLimiter(host, kernel, layout.bucket(0, false), stats(0, 'host'));
    this.#bound.push(bound);
    return bound;
  }

  /** Changes the configuration, and tells the threads unless `told` is false. */
  configure(patch: ConfigPatch, told = true): void {
    const config = applyPatch(this.#inForce.config, patch, CORES);
    this.#inForce = { config, version: this.#inForce.version + 1 };
    this.#apply();
    const { i32 } = this.arena;
    Atomics.add(i32, HEADER.CHANGES >>> 2, 1);
    if (!told) return;
    for (const limiter of this.#limiters) limiter.refresh();
    for (const bound of this.#bound) bound.refresh();
  }

  counted(counter: keyof typeof STATS): number {
    return this.#limiters.reduce((sum, _, place) => {
      const stats = this.arena.layout.thread(place).stats(0, 'host');
      return sum + (this.arena.f64[(stats + STATS[counter]) >>> 3] as number);
    }, 0);
  }

  /** Permits granted that have come to no end. */
  held(): number {
    return (
      this.counted('RESERVED') -
      this.counted('SPENT') -
      this.counted('RETURNED') -
      this.counted('LOST')
    );
  }

  available(shadow = false): number {
    const { kernel, layout } = this.arena;
    return kernel.available(layout.bucket(0, shadow), this.clock.nowNs());
  }

  /** Waits that were recorded, ms in all and how many. */
  waits(kind: 'host' | 'dryRun'): { readonly ms: number; readonly count: number } {
    const { sumNs, count } = this.#rpcs.waits(0).of(kind).snapshot();
    return { ms: sumNs / 1e6, count };
  }

  #apply(): void {
    applyConfig(this.arena, this.#inForce, CORES, this.clock.nowNs());
  }
}
