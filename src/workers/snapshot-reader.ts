/** Reads a snapshot from the arena; asks no thread, so it also tells of those that died or hang. */
import type { Arena } from '../shared/arena.js';
import { CELL_FIELD } from '../shared/directory/cell.js';
import { STATE_WORD } from '../shared/kernel/port.js';
import { KeyDirectory } from '../shared/key-directory.js';
import { ACTOR_TOTALS, type CALL_STATS, HEADER, RING_RECORDS, TOTALS } from '../shared/layout.js';
import { bucketWords, cellQps } from '../shared/limiter-words.js';
import { RingConsumer } from '../shared/message-ring.js';
import { readSettings, settingsIndex } from '../shared/settings.js';
import { createCircuitReader } from './circuit-reader.js';
import type { Clock } from './clock.js';
import { createPressureReader } from './pressure-reader.js';
import { RECORD } from './report-ring.js';
import type { RpcTable } from './rpc-table.js';
import type {
  ConservationSnapshot,
  LimitSnapshot,
  RpcSnapshot,
  RuntimeSnapshot,
} from './snapshot.js';
import { ThreadRegistry } from './thread-registry.js';
import { ThreadSums } from './thread-sums.js';

export type Vitals = Pick<RuntimeSnapshot, 'atMs' | 'controlGeneration' | 'conservation'>;

export interface SnapshotReader {
  read(): RuntimeSnapshot;
  /** Of these, what takes no time whatever is tracked. */
  vitals(): Vitals;
  /** Waits and attempts under way in all threads. */
  active(): number;
}

const { BUSY: _busy, PRESSURE_EASED: _eased, ...CIRCUIT_KINDS } = RECORD;
const CIRCUIT_RECORDS: readonly number[] = Object.values(CIRCUIT_KINDS);

export function createSnapshotReader(arena: Arena, rpcs: RpcTable, clock: Clock): SnapshotReader {
  const { layout, f64, i32, buffer } = arena;
  const { threads, pairs } = layout.capacity;
  const sums = new ThreadSums(arena);
  const rings = Array.from(
    { length: threads },
    (_, index) => new RingConsumer(buffer, layout.thread(index).ring, RING_RECORDS),
  );
  const directory = new KeyDirectory(buffer, layout.directory, pairs);
  const registry = new ThreadRegistry(arena);
  const circuitReader = createCircuitReader(arena);
  const pressureReader = createPressureReader(arena, directory);

  const word = (offset: number): number => Atomics.load(i32, offset >>> 2);
  const float = (offset: number): number => f64[offset >>> 3] as number;
  const isClosed = (): boolean => word(STATE_WORD) !== 0;
  const ofCalls = (rpcId: number, event: keyof typeof CALL_STATS): number =>
    sums.calls(rpcId, event);

  const ofActors = (total: keyof typeof ACTOR_TOTALS): number =>
    float(HEADER.ACTOR_TOTALS + ACTOR_TOTALS[total]);

  const drops = (kinds: readonly number[]): number =>
    rings.reduce((all, ring) => kinds.reduce((some, kind) => some + ring.drops(kind), all), 0);

  const limits = (): LimitSnapshot[] => {
    const names = rpcs.all();
    const found: LimitSnapshot[] = [];
    directory.visit((index, _generation, space) => {
      const rpc = names[space]?.name;
      if (rpc === undefined) return;
      const cell = directory.cellAt(index);
      const qpsLimit = cellQps(arena, cell);
      if (qpsLimit === 0) return;
      found.push({
        rpc,
        table: directory.describe(cell).key,
        qpsLimit,
        currentQps: float(cell + CELL_FIELD.CURRENT_QPS),
        sinceMs: word(cell + CELL_FIELD.LIMITED_SINCE) * 100,
      });
    });
    return found;
  };

  const rpcSnapshot = (id: number, rpc: string, throttledTables: number): RpcSnapshot => {
    const host = sums.limiter(id, 'host');
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
      refused: host.REFUSED + sums.limiter(id, 'table').REFUSED,
      calls: host.CALLS,
      busy: host.BUSY,
      outcomes: {
        success: ofCalls(id, 'SUCCESS'),
        failure: ofCalls(id, 'FAILURE'),
        refused: ofCalls(id, 'REFUSED'),
        ignored: ofCalls(id, 'IGNORED'),
      },
      retries: ofCalls(id, 'RETRIES'),
      retriesDenied: ofCalls(id, 'RETRIES_DENIED'),
      timeouts: ofCalls(id, 'TIMEOUTS'),
      deadlines: ofCalls(id, 'DEADLINES'),
      late: ofCalls(id, 'LATE'),
      classifierFaults: ofCalls(id, 'CLASSIFIER_FAULTS'),
      hostWait: waits.of('host').snapshot(),
      tableWait: waits.of('table').snapshot(),
      dryRunWaitMs: waits.of('dryRun').snapshot().sumNs / 1e6,
      throttledTables,
      waiting: { host: ofCalls(id, 'HOST_WAITING'), table: ofCalls(id, 'TABLE_WAITING') },
    };
  };

  const conservationNow = (): ConservationSnapshot => {
    let [granted, spent, returned, lost] = [0, 0, 0, 0];
    for (const { id } of rpcs.all()) {
      const all = sums.limiter(id, 'host', 'table');
      granted += all.DIRECT + all.RESERVED;
      spent += all.DIRECT + all.SPENT;
      returned += all.RETURNED;
      lost += all.LOST;
    }
    const held = granted - spent - returned - lost;
    return {
      ok: held === 0 || (held > 0 && sums.active() > 0),
      granted,
      spent,
      returned,
      lost,
      held,
    };
  };

  const conservation = (): ConservationSnapshot => {
    // Threads move on while their counters are read one by one: a sum that does not hold is read again.
    let seen = conservationNow();
    for (let again = 0; !seen.ok && again < 8; again++) seen = conservationNow();
    return seen;
  };

  return {
    active() {
      sums.look();
      return sums.active();
    },
    vitals() {
      sums.look();
      return {
        atMs: clock.nowNs() / 1e6,
        controlGeneration: word(HEADER.CONTROL_GENERATION),
        conservation: conservation(),
      };
    },
    read() {
      sums.look();
      const now = clock.nowNs();
      const throttled = limits();
      const perRpc = new Map<string, number>();
      for (const { rpc } of throttled) perRpc.set(rpc, (perRpc.get(rpc) ?? 0) + 1);
      const total = (index: number): number => float(HEADER.TOTALS + index * 8);
      const { used, capacity, overflow } = directory.use();
      const settings = settingsIndex(arena) === 0 ? undefined : readSettings(arena);
      return {
        atMs: now / 1e6,
        configVersion: settings?.version ?? 0,
        level: word(HEADER.LEVEL),
        dryRun: {
          host: settings?.hostDryRun ?? false,
          tables: settings?.tablesDryRun ?? false,
        },
        controlGeneration: word(HEADER.CONTROL_GENERATION),
        controlRestarts: word(HEADER.RESTARTS),
        controlSilentMs: isClosed() ? 0 : Math.max(now - float(HEADER.CONTROL_SEEN), 0) / 1e6,
        threads: registry.attached().length,
        limits: throttled,
        directory: { used, capacity, overflow },
        ringDrops: {
          busy: drops([RECORD.BUSY]),
          circuit: drops(CIRCUIT_RECORDS),
          pressure: drops([RECORD.PRESSURE_EASED]),
        },
        rpcs: rpcs.all().map(({ id, name }) => rpcSnapshot(id, name, perRpc.get(name) ?? 0)),
        peerReads: {
          servedByPeer: sums.peers('SERVED_BY_PEER'),
          servedByFallback: sums.peers('SERVED_BY_FALLBACK'),
          attempts: sums.peers('ATTEMPTS'),
          misses: sums.peers('MISSES'),
          open: sums.peers('OPEN'),
          connectTimeouts: sums.peers('CONNECT_TIMEOUTS'),
        },
        throttle: {
          upgrades: total(TOTALS.UPGRADES),
          downgrades: total(TOTALS.DOWNGRADES),
          busy: rpcs.all().reduce((busy, { id }) => busy + sums.limiter(id, 'host').BUSY, 0),
          upgrades60s: total(TOTALS.UPGRADES_60S),
          downgrades60s: total(TOTALS.DOWNGRADES_60S),
          busy60s: total(TOTALS.BUSY_60S),
        },
        ...circuitReader.read(now / 1e6),
        ...pressureReader.read(now),
        actors: {
          failures: ofActors('FAILURES'),
          overflows: ofActors('OVERFLOWS'),
          undelivered: ofActors('UNDELIVERED'),
        },
        maxLagMs: float(HEADER.MAX_LAG) / 1e6,
        conservation: conservation(),
      };
    },
  };
}
