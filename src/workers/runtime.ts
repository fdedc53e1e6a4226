/** The owner's facade: creates the arena, keeps the control thread running, shows the state, closes it all. */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, threadId } from 'node:worker_threads';
import { type Arena, createArena } from '../shared/arena.js';
import { RuntimeClosedError } from '../shared/errors.js';
import { HEADER } from '../shared/layout.js';
import { serveAdmin } from './admin.js';
import {
  type AdminListenOptions,
  type AdminServer,
  AdminServers,
  type RuntimeAdmin,
} from './admin-servers.js';
import { applyConfig } from './apply-config.js';
import { attach, attachedGate } from './attach.js';
import { type Clock, clockEpoch, createClock } from './clock.js';
import { cloneOptions } from './config/clone-options.js';
import type { ConfigPatch, RuntimeOptions, UpdateOptions } from './config/options.js';
import type { ResolvedConfig } from './config/resolved-config.js';
import { ControlThread } from './control-thread.js';
import { leaveHandle, withdrawHandle } from './environment-handles.js';
import type { Gate } from './gate.js';
import { HANDLE_VERSION, type RuntimeHandle } from './handle.js';
import { RpcTable } from './rpc-table.js';
import type { RuntimeEventName, RuntimeEvents } from './runtime-events.js';
import type { RuntimeHealth, RuntimeStatus } from './runtime-health.js';
import type { RuntimeSnapshot } from './snapshot.js';
import { createSnapshotReader, type SnapshotReader } from './snapshot-reader.js';
import { Chronicle } from './state/chronicle.js';
import type { EventListener } from './state/event-listeners.js';
import type { RecordListener } from './state/event-log.js';
import { HotPairs } from './state/hot-pairs.js';
import { takeLogger } from './state/logger.js';
import { pairCounts } from './state/pair-counts.js';
import type { RecordedEvent, RuntimeState } from './state/runtime-state.js';
import type { StateOptions } from './state/state-reader.js';

export interface CloseOptions {
  /** How long calls under way may still take, ms. Default 5000. */
  readonly deadlineMs?: number;
}

const DRAIN_POLL_MS = 5;

/** Starts an admin server of a runtime; an adapter knows how. */
export type ListenAdmin = (runtime: Runtime, options: AdminListenOptions) => Promise<AdminServer>;

/** What `createRuntime` does. @throws (rejects) ConfigError, before anything has been started. */
export async function startRuntime(
  options: RuntimeOptions,
  listenAdmin: ListenAdmin,
): Promise<Runtime> {
  const cores = availableParallelism();
  // Before any effect: what cannot be cloned is refused, and what the caller changes later is not ours.
  const { logger, rest } = takeLogger(options);
  const given = cloneOptions(rest);
  // Here, because a thread that only attaches need not load the schema library.
  const { resolveConfig } = await import('./config/resolve-config.js');
  const config = resolveConfig(given, cores);
  const {
    arena,
    handle: arenaHandle,
    fallback,
  } = createArena(
    { ...config.capacity, addresses: config.breaker.maxAddresses },
    process.env['SPILLWAY_KERNEL'] === 'twin',
  );
  const epoch = clockEpoch();
  const startedAt = new Date();
  const clock = createClock(epoch);
  const inForce = { config, version: 1 };
  applyConfig(arena, inForce, cores, clock.nowNs());
  const handle: RuntimeHandle = {
    version: HANDLE_VERSION,
    runtimeId: randomUUID(),
    epoch,
    ownerThreadId: threadId,
    arena: arenaHandle,
  };
  const { runtimeId } = handle;
  const chronicle = new Chronicle({ runtimeId, nowMs: () => clock.nowNs() / 1e6, logger });
  const control = new ControlThread({
    arena,
    handle,
    cores,
    inForce,
    emit: (event) => chronicle.tell(event),
  });
  await control.start();
  const runtime = new Runtime({
    arena,
    handle,
    control,
    clock,
    chronicle,
    startedAt,
    options: given,
    listenAdmin,
  });
  if (fallback !== undefined) {
    const event: RuntimeEvents['kernel-fallback'] = { reason: fallback.message };
    // After the caller has had its chance to listen.
    setImmediate(() => chronicle.tell({ name: 'kernel-fallback', event }));
  }
  return runtime;
}

interface RuntimeParts {
  readonly arena: Arena;
  readonly handle: RuntimeHandle;
  readonly control: ControlThread;
  readonly clock: Clock;
  readonly chronicle: Chronicle;
  /** Wall clock at the epoch. */
  readonly startedAt: Date;
  readonly options: RuntimeOptions;
  readonly listenAdmin: ListenAdmin;
}

/** One per process, as a rule; made by `createRuntime`. Does not keep the process alive. */
export class Runtime {
  /** HTTP servers that show the runtime and change its configuration; there is none until one is asked for. */
  readonly admin: RuntimeAdmin;
  readonly #parts: RuntimeParts;
  readonly #adminServers: AdminServers;
  readonly #snapshots: SnapshotReader;
  readonly #hotPairs: HotPairs;
  readonly #ports = new Set<MessagePort>();
  readonly #listen = (): void => undefined;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(parts: RuntimeParts) {
    const { arena, handle, clock } = parts;
    this.#parts = parts;
    const rpcs = new RpcTable(arena);
    this.#snapshots = createSnapshotReader(arena, rpcs, clock);
    this.#hotPairs = new HotPairs(pairCounts(arena, rpcs));
    this.#adminServers = new AdminServers((options) => parts.listenAdmin(this, options));
    this.admin = { listen: (options) => this.#adminServers.listen(options) };
    parts.chronicle.listeners.add(
      'control-restart',
      () => parts.chronicle.forget(this.#snapshots.read().limits),
      false,
    );
    leaveHandle(handle);
    // Being listened to is what tells a probe that the owner is alive.
    process.on('workerMessage', this.#listen);
  }

  /** For `attach()` in a thread that was started earlier, or elsewhere: give it as `workerData` or in a message. */
  handle(): RuntimeHandle {
    return this.#parts.handle;
  }

  /** The owner thread's own gate. @throws RuntimeClosedError. */
  get gate(): Gate {
    if (this.#closing !== undefined) throw new RuntimeClosedError();
    return attach(this.#parts.handle);
  }

  /** Whether decisions are made; what is in force stays so either way. */
  health(): RuntimeHealth {
    return { status: this.#status(), ...this.#snapshots.vitals() };
  }

  #status(): RuntimeStatus {
    if (this.#closing !== undefined) return 'closing';
    const controlThread = Atomics.load(this.#parts.arena.i32, HEADER.CONTROL_THREAD >>> 2);
    return controlThread === 0 ? 'no-control-thread' : 'ok';
  }

  /** The configuration in force: all options, resolved, frozen. */
  config(): ResolvedConfig {
    return this.#parts.control.inForce.config;
  }

  /** Counts configuration changes from 1. */
  get configVersion(): number {
    return this.#parts.control.inForce.version;
  }

  /** Which kernel makes the decisions; `twin` where shared WebAssembly memory was refused. */
  get kernel(): 'wasm' | 'twin' {
    return this.#parts.arena.kernel.kind;
  }

  /**
   * Changes the configuration in all threads as one versioned change; also from any other thread, with
   * `gate.updateConfig` or an admin port.
   * @throws (rejects) ConfigError, or ConfigConflictError where `ifVersion` is no longer in force; the old one stays.
   */
  async updateConfig(
    patch: ConfigPatch,
    options: UpdateOptions = {},
  ): Promise<{ readonly version: number }> {
    return this.#caughtUp(await this.gate.updateConfig(patch, options));
  }

  /** Goes back to the options of the start, with `configFile` read again. */
  async reloadConfig(): Promise<{ readonly version: number }> {
    return this.#caughtUp(await this.gate.reloadConfig(this.#parts.options));
  }

  /** Whoever has changed something finds it changed. */
  async #caughtUp<Change extends { readonly version: number }>(change: Change): Promise<Change> {
    await this.#parts.control.caughtUp(change.version);
    return change;
  }

  /** One end of an admin channel, to be sent to another thread and given to `connectAdmin` there. */
  adminPort(): MessagePort {
    if (this.#closing !== undefined) throw new RuntimeClosedError();
    const { port1, port2 } = new MessageChannel();
    serveAdmin(this, port1);
    this.#ports.add(port1);
    port1.once('close', () => this.#ports.delete(port1));
    return port2;
  }

  /** Totals, limits and accounts, read from shared memory at this moment. */
  snapshot(): RuntimeSnapshot {
    return this.#snapshots.read();
  }

  /**
   * For who looks from outside: the snapshot, the slowed pairs with their history, the newest events, and `stores`. Plain
   * JSON; asks no thread.
   */
  state(options: StateOptions = {}): RuntimeState {
    const { handle, chronicle, startedAt } = this.#parts;
    const { runtimeId } = handle;
    const { backendId } = this.config();
    const snapshot = this.snapshot();
    const hottest = this.#hotPairs.look(snapshot.atMs);
    return chronicle.state({ runtimeId, backendId, startedAt, snapshot, hottest }, options);
  }

  /** Calls `listener` at each such event, in the owner's thread. @throws TypeError for a name that no event has. */
  on<Name extends RuntimeEventName>(name: Name, listener: EventListener<Name>): this {
    this.#parts.chronicle.listeners.add(name, listener, false);
    return this;
  }

  /** The same, for the next such event only. */
  once<Name extends RuntimeEventName>(name: Name, listener: EventListener<Name>): this {
    this.#parts.chronicle.listeners.add(name, listener, true);
    return this;
  }

  off<Name extends RuntimeEventName>(name: Name, listener: EventListener<Name>): this {
    this.#parts.chronicle.listeners.remove(name, listener);
    return this;
  }

  /**
   * Events of all kinds after the one numbered `sinceSeq`, oldest first, as far as they are kept: the newest 1000. A gap
   * after `sinceSeq` means that some were forgotten. @throws RangeError for what is no integer >= 0.
   */
  recordedEvents(sinceSeq = 0): readonly RecordedEvent[] {
    return this.#parts.chronicle.events.since(sinceSeq);
  }

  /** Calls `listener` at each event of any kind, until the function that it returns is called. */
  onRecorded(listener: RecordListener): () => void {
    return this.#parts.chronicle.events.listen(listener);
  }

  /**
   * Takes no new calls, lets those under way finish for at most `deadlineMs`, rejects who still waits with
   * RuntimeClosedError, ends the control thread. Idempotent; leaves no handle.
   */
  close({ deadlineMs = 5000 }: CloseOptions = {}): Promise<void> {
    if (!(typeof deadlineMs === 'number' && deadlineMs >= 0 && deadlineMs <= 86_400_000)) {
      return Promise.reject(
        new RangeError(`deadlineMs must be from 0 to 86400000, got ${String(deadlineMs)}`),
      );
    }
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    const { arena, handle, control, chronicle } = this.#parts;
    arena.kernel.close();
    Atomics.add(arena.i32, HEADER.CHANGES >>> 2, 1);
    // Those who block their thread end now: nobody could wake them later.
    Atomics.notify(arena.i32, HEADER.CHANGES >>> 2);
    withdrawHandle(handle);
    this.#adminServers.refuse();
    const deadline = performance.now() + deadlineMs;
    while (this.#snapshots.active() > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    }
    // Until here they have told that the runtime is closing.
    await this.#adminServers.close();
    await control.close();
    for (const port of this.#ports) port.close();
    attachedGate(handle)?.closeNow();
    process.off('workerMessage', this.#listen);
    // After the caller knows that it is closed.
    setImmediate(() => chronicle.tell({ name: 'closed', event: {} }));
  }
}
