import { type Arena, createArena } from '../../src/shared/arena.js';
import { circuitsInArena } from '../../src/shared/breaker/circuits-in-arena.js';
import { KeyDirectory } from '../../src/shared/key-directory.js';
import { CALL_STATS } from '../../src/shared/layout.js';
import { createVirtualTime, type VirtualTime } from '../../src/testing/virtual-time.js';
import { applyConfig } from '../../src/workers/apply-config.js';
import { BusyReports } from '../../src/workers/busy-reports.js';
import { applyPatch } from '../../src/workers/config/apply-patch.js';
import type { ConfigPatch, RuntimeOptions } from '../../src/workers/config/options.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';
import { Gate } from '../../src/workers/gate.js';
import type { Classifier } from '../../src/workers/outcome.js';
import { ReportRing } from '../../src/workers/report-ring.js';
import { RpcTable } from '../../src/workers/rpc-table.js';
import type { RuntimeSnapshot } from '../../src/workers/snapshot.js';
import { createSnapshotReader } from '../../src/workers/snapshot-reader.js';
import { TableStage } from '../../src/workers/table-stage.js';
import { ThreadCircuits } from '../../src/workers/thread-circuits.js';
import { ThreadClassifier } from '../../src/workers/thread-classifier.js';
import { ThreadContext } from '../../src/workers/thread-context.js';
import { ThreadPressure } from '../../src/workers/thread-pressure.js';
import { type ClaimedPlace, ThreadRegistry } from '../../src/workers/thread-registry.js';

/** Real gates on a real arena, in virtual time: no threads, no control thread; `configure` does its part. */
export interface VirtualGates {
  readonly time: VirtualTime;
  readonly arena: Arena;
  /** As of one more thread. */
  gate(options?: { readonly classify?: Classifier; readonly random?: () => number }): Gate;
  configure(patch: ConfigPatch): void;
  snapshot(): RuntimeSnapshot;
  /** Sum over all threads of one counter of an RPC type's calls. */
  counted(event: keyof typeof CALL_STATS, rpc?: string): number;
  /** What the control thread does for threads that have left. */
  sweep(): void;
  /** The runtime closes to all that is new. */
  close(): void;
}

const CORES = 1;
const CAPACITY = { threads: 8, rpcs: 8, pairs: 256 };

export function createVirtualGates(
  options: RuntimeOptions,
  twin = process.env['SPILLWAY_KERNEL'] === 'twin',
): VirtualGates {
  const time = createVirtualTime();
  let inForce = { config: resolveConfig({ capacity: CAPACITY, ...options }, CORES), version: 1 };
  const { capacity, breaker } = inForce.config;
  const { arena } = createArena({ ...capacity, addresses: breaker.maxAddresses }, twin);
  const clock = { nowNs: () => time.nowMs * 1e6 };
  const timers = { arm: (ms: number, fire: () => void) => time.setTimer(ms, fire) };
  const gates: Gate[] = [];
  const registry = new ThreadRegistry(arena);
  const left: ClaimedPlace[] = [];
  const rpcs = new RpcTable(arena);
  const apply = (): void => applyConfig(arena, inForce, CORES, clock.nowNs());
  apply();

  return {
    time,
    arena,
    gate({ classify, random } = {}) {
      const { layout } = arena;
      const claimed = registry.claim(gates.length);
      const owner = claimed.index;
      const place = layout.thread(owner);
      const thread = new ThreadContext(arena, place, clock, timers);
      const names = new RpcTable(arena);
      const directory = new KeyDirectory(arena.buffer, layout.directory, layout.capacity.pairs);
      const ring = new ReportRing(thread);
      const memory = circuitsInArena(arena);
      const classifier = new ThreadClassifier();
      classifier.use(classify);
      const gate = new Gate({
        thread,
        rpcs: names,
        tables: new TableStage(thread, names, directory),
        circuits: new ThreadCircuits({ thread, memory, owner, ring, onFull: () => undefined }),
        pressure: new ThreadPressure(thread, directory, ring),
        busy: new BusyReports(thread, ring),
        link: { request: () => Promise.reject(new Error('there is no control thread')) },
        detach() {
          thread.leave();
          left.push(claimed);
        },
        classifier,
        ...(random !== undefined && { random }),
      });
      gates.push(gate);
      return gate;
    },
    configure(patch) {
      const config = applyPatch(inForce.config, patch, CORES);
      inForce = { config, version: inForce.version + 1 };
      apply();
      for (const gate of gates) gate.refresh();
    },
    snapshot: () => createSnapshotReader(arena, rpcs, clock).read(),
    counted(event, rpc = 'read') {
      const id = rpcs.find(rpc)?.id ?? -1;
      return gates.reduce((sum, _, index) => {
        const at = arena.layout.thread(index).calls(id) + CALL_STATS[event];
        return sum + (arena.f64[at >>> 3] as number);
      }, 0);
    },
    sweep() {
      for (const claimed of left.splice(0)) registry.free(claimed);
    },
    close: () => arena.kernel.close(),
  };
}

/** What `call` comes to, with time passing as far as it takes. */
export async function ended<T>({ time }: VirtualGates, call: Promise<T>): Promise<T> {
  let isOver = false;
  const over = call.finally(() => {
    isOver = true;
  });
  over.catch(() => undefined);
  await time.settleAsync();
  for (let i = 0; i < 10_000 && !isOver; i += 1)
    await time.advanceToAsync(time.nextDeadlineMs ?? time.nowMs + 1);
  return over;
}
