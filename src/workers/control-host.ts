/**
 * Everything that runs on the control thread: the actors with real time, the pairs of the arena behind their ports, the
 * watch over the attached threads, the configuration's one writer.
 */
import type { MessagePort } from 'node:worker_threads';
import { type BreakerPlane, startBreakerPlane } from '../actors/breaker/breaker-plane.js';
import { type ControlPlane, startControlPlane } from '../actors/control-plane.js';
import { createActorSystem } from '../actors/core/actor-system.js';
import type { ThrottleConfig } from '../actors/throttle/throttle-config.js';
import type { ThrottleEvent } from '../actors/throttle/throttle-event.js';
import { type Arena, openArena } from '../shared/arena.js';
import { circuitsInArena } from '../shared/breaker/circuits-in-arena.js';
import { DirectoryKeeper } from '../shared/directory-keeper.js';
import { KeyDirectory } from '../shared/key-directory.js';
import { HEADER } from '../shared/layout.js';
import { applyConfig, type InForce, needsCoarseClock } from './apply-config.js';
import { BusyIntake } from './busy-intake.js';
import { CircuitStore } from './circuit-store.js';
import { type Clock, createClock } from './clock.js';
import { CoarseTicker } from './coarse-ticker.js';
import type { ResolvedConfig } from './config/resolved-config.js';
import { ConfigChanges } from './config-changes.js';
import { ControlTotals } from './control-totals.js';
import { noteCurrentRates } from './current-rates.js';
import { DirectoryUpkeep } from './directory-upkeep.js';
import type { ControlStart, Report } from './messages.js';
import { PairStore } from './pair-store.js';
import { createTimerDriver } from './real-timer-driver.js';
import { RpcTable } from './rpc-table.js';
import type { ControlEvent } from './runtime-events.js';
import { ThreadRegistry } from './thread-registry.js';
import { ThreadWatch } from './thread-watch.js';
import { TroubleWatch } from './trouble-watch.js';
import { WindowUpkeep } from './window-upkeep.js';

const LOOK_MS = 1000;
const RATES_MS = 250;
/** A successor hears of BUSY when it knows which tables are hot: samples are 100 ms apart, a rate takes two. */
const MEASURE_FIRST_MS = 300;

export class ControlHost {
  readonly #arena: Arena;
  readonly #clock: Clock;
  readonly #owner: MessagePort;
  readonly #cores: number;
  readonly #generation: number;
  readonly #registry: ThreadRegistry;
  readonly #watch: ThreadWatch;
  readonly #intake: BusyIntake;
  readonly #ticker: CoarseTicker;
  readonly #directory: KeyDirectory;
  readonly #keeper: DirectoryKeeper;
  readonly #upkeep: DirectoryUpkeep;
  readonly #pairs: PairStore;
  readonly #windows: WindowUpkeep;
  readonly #addresses: DirectoryKeeper;
  readonly #addressUpkeep: DirectoryUpkeep;
  readonly #circuits: CircuitStore;
  readonly #breaker: BreakerPlane;
  readonly #system: ReturnType<typeof createActorSystem>;
  readonly #plane: ControlPlane;
  readonly #totals: ControlTotals;
  readonly #configs: ConfigChanges;
  readonly #trouble: TroubleWatch;
  #listen: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #rates: NodeJS.Timeout | undefined;

  constructor(start: ControlStart, owner: MessagePort) {
    const { handle, generation, cores, inForce, history } = start;
    const arena = openArena(handle.arena);
    const { layout, buffer } = arena;
    this.#arena = arena;
    this.#owner = owner;
    this.#cores = cores;
    this.#generation = generation;
    this.#configs = new ConfigChanges({
      inForce,
      cores,
      addresses: layout.capacity.addresses ?? 1,
      onAccepted: (next, before) => this.#accept(next, before),
    });
    this.#totals = new ControlTotals(arena);
    this.#clock = createClock(handle.epoch);
    this.#registry = new ThreadRegistry(arena);
    this.#watch = new ThreadWatch(this.#registry, handle.runtimeId, generation, {
      attached: (id) => this.#attached(id),
      ended: ({ index, claim }, id) => this.#ended(index, claim, id),
      request: (request, answer) => this.#configs.answer(request, answer),
    });
    this.#ticker = new CoarseTicker(arena, this.#clock);
    this.#directory = new KeyDirectory(buffer, layout.directory, layout.capacity.pairs);
    this.#keeper = new DirectoryKeeper(
      buffer,
      layout.directory,
      layout.capacity.pairs,
      this.#registry.quiescence,
    );
    const quiesce = (): void => this.#watch.tell({ kind: 'quiesce' });
    this.#upkeep = new DirectoryUpkeep(this.#keeper, quiesce);
    const memory = circuitsInArena(arena);
    this.#addresses = new DirectoryKeeper(
      buffer,
      memory.base,
      memory.cells,
      this.#registry.quiescence,
    );
    this.#addressUpkeep = new DirectoryUpkeep(this.#addresses, quiesce);
    this.#circuits = new CircuitStore({
      memory,
      keeper: this.#addresses,
      onForgotten: () => this.#addressUpkeep.nudge(),
    });
    const rpcs = new RpcTable(arena);
    this.#pairs = new PairStore({
      arena,
      clock: this.#clock,
      rpcs,
      directory: this.#directory,
      keeper: this.#keeper,
      onChange: () => this.#changed(),
      onDrop: () => this.#upkeep.nudge(),
    });
    this.#windows = new WindowUpkeep({
      arena,
      clock: this.#clock,
      directory: this.#directory,
      keeper: this.#keeper,
      onRemoved: () => this.#upkeep.nudge(),
      onEased: () => this.#changed(),
    });
    this.#trouble = new TroubleWatch({ arena, rpcs, directory: this.#directory });
    // A predecessor may have died halfway through a change.
    applyConfig(arena, inForce, cores, this.#clock.nowNs());
    this.#system = createActorSystem({
      clock: () => this.#clock.nowNs() / 1e6,
      schedule: (run) => void setImmediate(run),
      timerDriver: createTimerDriver(),
      // The owner starts a successor, which begins with what is in force.
      onFatal: ({ error }) => {
        throw error;
      },
    });
    this.#plane = startControlPlane({
      system: this.#system,
      source: this.#pairs,
      limits: this.#pairs,
      config: throttleConfig(inForce.config),
      restored: { history, totals: this.#totals.throttle() },
      onHistory: (newest) => this.#report({ kind: 'history', history: newest }),
      onEvent: (event) => this.#tell(event),
      onMetrics: (metrics) => this.#totals.publishThrottle(metrics),
    });
    this.#breaker = startBreakerPlane({
      system: this.#system,
      circuits: this.#circuits,
      config: inForce.config.breaker,
      totals: this.#totals.circuits(),
      onEvent: ({ kind, ...event }) => this.#announce({ name: kind, event } as ControlEvent),
      onTotals: (totals) => this.#totals.publishCircuits(totals),
    });
    this.#intake = new BusyIntake(
      arena,
      (count) => this.#plane.busy(count),
      (...record) => {
        this.#windows.record(record[0]);
        const report = this.#circuits.read(...record, this.#configs.inForce.config.breaker);
        if (report !== undefined) this.#breaker.report(report);
      },
    );
  }

  /** From here on threads may offer themselves. */
  start(threadId: number): void {
    if (this.#generation === 1) this.#intake.start();
    else this.#listen = setTimeout(() => this.#intake.start(), MEASURE_FIRST_MS);
    this.#ticker.run(needsCoarseClock(this.#configs.inForce.config));
    this.#look = setInterval(() => this.#lookAround(), LOOK_MS);
    this.#totals.publishActors(this.#clock.nowNs(), this.#system.stats());
    this.#upkeep.nudge();
    this.#addressUpkeep.nudge();
    Atomics.store(this.#arena.i32, HEADER.CONTROL_THREAD >>> 2, threadId);
    this.#changed();
    this.#report({ kind: 'ready' });
    // Before it is needed, after everything that somebody waits for.
    setImmediate(() => void this.#configs.load());
  }

  /** Something came by `postMessageToThread`. */
  receive(message: unknown): void {
    this.#watch.receive(message);
  }

  async close(): Promise<void> {
    this.#watch.tell({ kind: 'closed' });
    clearTimeout(this.#listen);
    clearInterval(this.#look);
    clearInterval(this.#rates);
    this.#ticker.run(false);
    this.#upkeep.close();
    this.#addressUpkeep.close();
    this.#intake.close();
    this.#windows.close();
    // A thread that ends while it loads modules leaves their files open.
    await this.#configs.load();
    await this.#system.stop({ deadlineMs: 200 });
    this.#watch.close();
  }

  #lookAround(): void {
    this.#intake.look();
    this.#breaker.look();
    this.#windows.look();
    const now = this.#clock.nowNs();
    this.#watch.look(now / 1e6);
    this.#totals.publishActors(now, this.#system.stats());
    for (const event of this.#trouble.look(now / 1e6)) this.#announce(event);
  }

  #attached(threadId: number | null): void {
    // Whoever has given its place up already ends in a moment.
    if (threadId === null) return;
    const threads = this.#registry.attached().length;
    this.#announce({ name: 'thread-attached', event: { threads, threadId } });
  }

  #ended(index: number, claim: number, threadId: number | null): void {
    if (this.#registry.claimOf(index) !== claim) return;
    this.#intake.reset(index);
    // Before the place can be somebody else's.
    this.#breaker.threadEnded(index);
    if (!this.#registry.free({ index, claim })) return;
    this.#keeper.sweep();
    this.#upkeep.nudge();
    this.#windows.threadEnded();
    // It may have shortened a window without saying so.
    this.#changed();
    this.#addresses.sweep();
    this.#addressUpkeep.nudge();
    const threads = this.#registry.attached().length;
    this.#announce({ name: 'thread-ended', event: { threads, threadId } });
  }

  #accept(next: InForce, { config: before }: InForce): void {
    const { config, version } = next;
    // First, so that a successor of a thread that dies from here on goes on from this configuration: what was applied
    // in part is applied again, and no RPC type that has been published is unknown to it.
    this.#report({ kind: 'config', inForce: next });
    applyConfig(this.#arena, next, this.#cores, this.#clock.nowNs());
    this.#plane.configure(throttleConfig(config));
    this.#breaker.configure(config.breaker);
    if (config.pressure.maxThrottleMs < before.pressure.maxThrottleMs)
      this.#windows.shorten(config.pressure.maxThrottleMs);
    this.#ticker.run(needsCoarseClock(config));
    if (before.tables.dryRun && !config.tables.dryRun) this.#pairs.replan();
    this.#changed();
    this.#announce({ name: 'config', event: { version } });
  }

  /** Wakes blocked callers, and tells the loops of all threads. */
  #changed(): void {
    const { i32 } = this.#arena;
    Atomics.add(i32, HEADER.CHANGES >>> 2, 1);
    Atomics.notify(i32, HEADER.CHANGES >>> 2);
    this.#watch.tell({ kind: 'changed' });
  }

  #tell(change: ThrottleEvent): void {
    const { level, atMs } = change;
    Atomics.store(this.#arena.i32, HEADER.LEVEL >>> 2, level);
    if (level > 0) this.#rates ??= setInterval(() => void this.#noteRates(), RATES_MS);
    else {
      clearInterval(this.#rates);
      this.#rates = undefined;
    }
    if (change.kind === 'restored') return;
    if (change.kind === 'upgrade' || change.kind === 'downgrade')
      this.#totals.countChange(change.kind);
    if (level > 0) void this.#noteRates();
    const { actions, moves: changes, reason } = change;
    const event = { level, atMs, actions, changes, changed: changes.length, reason };
    this.#announce({ name: change.kind, event });
  }

  async #noteRates(): Promise<void> {
    try {
      const { limits } = await this.#plane.snapshot();
      noteCurrentRates(this.#arena, this.#pairs, this.#directory, limits);
    } catch {
      // The actors are being restarted; the next round is soon.
    }
  }

  #announce(event: ControlEvent): void {
    this.#report({ kind: 'event', event });
  }

  #report(report: Report): void {
    this.#owner.postMessage(report);
  }
}

function throttleConfig({ tables }: ResolvedConfig): ThrottleConfig {
  return { ...tables };
}
