/** Reads a snapshot from the arena; asks no thread, so it also tells of those that died or hang. */
import type { Arena } from '../shared/arena.js';
import { STATS } from '../shared/kernel/port.js';
import { KeyDirectory } from '../shared/key-directory.js';
import { HEADER, RING_RECORDS, THREAD, TOTALS } from '../shared/layout.js';
import { bucketWords, cellWords } from '../shared/limiter-words.js';
import { RingConsumer } from '../shared/message-ring.js';
import { readSettings, settingsIndex } from '../shared/settings.js';
import type { Clock } from './clock.js';
import { CURRENT_QPS } from './current-rates.js';
import { RECORD } from './report-ring.js';
import type { RpcTable } from './rpc-table.js';
import type {
  ConservationSnapshot,
  LimitSnapshot,
  RpcSnapshot,
  RuntimeSnapshot,
} from './snapshot.js';
import { ThreadRegistry } from './thread-registry.js';

export interface SnapshotReader {
  read(): RuntimeSnapshot;
  /** Waits and attempts under way in all threads. */
  active(): number;
}

type Sums = Record<keyof typeof STATS, number>;

export function createSnapshotReader(arena: Arena, rpcs: RpcTable, clock: Clock): SnapshotReader {
  const { layout, f64, i32, buffer } = arena;
  const { threads, pairs } = layout.capacity;
  const places = Array.from({ length: threads }, (_, index) => layout.thread(index));
  const rings = places.map(({ ring }) => new RingConsumer(buffer, ring, RING_RECORDS));
  const directory = new KeyDirectory(buffer, layout.directory, pairs);
  const registry = new ThreadRegistry(arena);

  const word = (offset: number): number => Atomics.load(i32, offset >>> 2);
  const float = (offset: number): number => f64[offset >>> 3] as number;
  const active = (): number =>
    places.reduce((sum, { header }) => sum + float(header + THREAD.ACTIVE), 0);

  const sum = (rpcId: number, stages: readonly ('host' | 'table')[]): Sums => {
    const sums = Object.fromEntries(Object.keys(STATS).map((name) => [name, 0])) as Sums;
    for (const place of places) {
      for (const stage of stages) {
        const stats = place.stats(rpcId, stage);
        for (const name of Object.keys(STATS) as (keyof typeof STATS)[])
          sums[name] += float(stats + STATS[name]);
      }
    }
    return sums;
  };

  const limits = (): LimitSnapshot[] => {
    const names = rpcs.all();
    const found: LimitSnapshot[] = [];
    directory.visit((index, _generation, space) => {
      const rpc = names[space]?.name;
      if (rpc === undefined) return;
      const cell = directory.cellAt(index);
      const qpsLimit = cellWords(arena, cell).qps();
      if (qpsLimit === 0) return;
      found.push({
        rpc,
        table: directory.describe(cell).key,
        qpsLimit,
        currentQps: float(cell + CURRENT_QPS),
      });
    });
    return found;
  };

  const rpcSnapshot = (id: number, rpc: string, throttledTables: number): RpcSnapshot => {
    const host = sum(id, ['host']);
    const waits = rpcs.waits(id);
    const bucket = layout.bucket(id, readSettings(arena).hostDryRun);
    const words = bucketWords(arena, bucket);
    const { intervalNs, tauNs } = words.terms(words.epoch());
    return {
      rpc,
      qpsLimit: words.qps(),
      burst: intervalNs === 0 ? 0 : Math.round(tauNs / intervalNs),
      granted: host.DIRECT + host.RESERVED,
      spent: host.DIRECT + host.SPENT,
      returned: host.RETURNED,
      lost: host.LOST,
      refused: host.REFUSED + sum(id, ['table']).REFUSED,
      calls: host.CALLS,
      busy: host.BUSY,
      hostWait: waits.of('host').snapshot(),
      tableWait: waits.of('table').snapshot(),
      dryRunWaitMs: waits.of('dryRun').snapshot().sumNs / 1e6,
      throttledTables,
    };
  };

  const conservationNow = (): ConservationSnapshot => {
    let [granted, spent, returned, lost] = [0, 0, 0, 0];
    for (const { id } of rpcs.all()) {
      const all = sum(id, ['host', 'table']);
      granted += all.DIRECT + all.RESERVED;
      spent += all.DIRECT + all.SPENT;
      returned += all.RETURNED;
      lost += all.LOST;
    }
    const held = granted - spent - returned - lost;
    return { ok: held === 0 || (held > 0 && active() > 0), granted, spent, returned, lost, held };
  };

  const conservation = (): ConservationSnapshot => {
    // Threads move on while their counters are read one by one: a sum that does not hold is read again.
    let seen = conservationNow();
    for (let again = 0; !seen.ok && again < 8; again++) seen = conservationNow();
    return seen;
  };

  return {
    active,
    read() {
      const throttled = limits();
      const total = (index: number): number => float(HEADER.TOTALS + index * 8);
      const { used, capacity, overflow } = directory.use();
      return {
        atMs: clock.nowNs() / 1e6,
        configVersion: settingsIndex(arena) === 0 ? 0 : readSettings(arena).version,
        level: word(HEADER.LEVEL),
        controlGeneration: word(HEADER.CONTROL_GENERATION),
        controlRestarts: word(HEADER.RESTARTS),
        threads: registry.attached().length,
        limits: throttled,
        directory: { used, capacity, overflow },
        ringDrops: { busy: rings.reduce((drops, ring) => drops + ring.drops(RECORD.BUSY), 0) },
        rpcs: rpcs
          .all()
          .map(({ id, name }) =>
            rpcSnapshot(id, name, throttled.filter(({ rpc }) => rpc === name).length),
          ),
        throttle: {
          upgrades: total(TOTALS.UPGRADES),
          downgrades: total(TOTALS.DOWNGRADES),
          busy: rpcs.all().reduce((busy, { id }) => busy + sum(id, ['host']).BUSY, 0),
          upgrades60s: total(TOTALS.UPGRADES_60S),
          downgrades60s: total(TOTALS.DOWNGRADES_60S),
          busy60s: total(TOTALS.BUSY_60S),
        },
        maxLagMs: float(HEADER.MAX_LAG) / 1e6,
        conservation: conservation(),
      };
    },
  };
}
