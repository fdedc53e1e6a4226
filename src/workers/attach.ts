/** How a thread joins the runtime. */
import { threadId } from 'node:worker_threads';
import { openArena } from '../shared/arena.js';
import { circuitsInArena } from '../shared/breaker/circuits-in-arena.js';
import { NoRuntimeError, RuntimeClosedError } from '../shared/errors.js';
import { STATE_WORD } from '../shared/kernel/port.js';
import { KeyDirectory } from '../shared/key-directory.js';
import { BusyReports } from './busy-reports.js';
import { createClock } from './clock.js';
import { ControlLink } from './control-link.js';
import { environmentHandle } from './environment-handles.js';
import { Gate } from './gate.js';
import { checkHandle, type RuntimeHandle } from './handle.js';
import type { Classifier } from './outcome.js';
import { ReportRing } from './report-ring.js';
import { RpcTable } from './rpc-table.js';
import { TableStage } from './table-stage.js';
import { ThreadCircuits } from './thread-circuits.js';
import { ThreadClassifier } from './thread-classifier.js';
import { nodeTimers, ThreadContext } from './thread-context.js';
import { ThreadPressure } from './thread-pressure.js';
import { ThreadRegistry } from './thread-registry.js';

export interface AttachOptions {
  /** What outcomes of this thread's calls mean, where a call does not say it itself. */
  readonly classify?: Classifier;
}

/** One gate per runtime in a thread, also when the package is loaded twice. */
const GATES: unique symbol = Symbol.for('spillway.gates');

/**
 * Joins the runtime from any thread, the owner's included; synchronous, and the same gate each time it is called in a
 * thread. Without a handle it takes the one that `createRuntime` left for threads that were started later, of
 * several runtimes the youngest's.
 * @throws NoRuntimeError, HandleVersionError, RuntimeClosedError, TooManyThreadsError; TypeError or IllegalStateError for a
 * `classify` that is no function, or not the one that the thread has attached with before.
 */
export function attach(handle?: RuntimeHandle, options: AttachOptions = {}): Gate {
  const given = handle ?? environmentHandle();
  if (given === undefined || given === null) throw new NoRuntimeError();
  const checked = checkHandle(given);
  const gates = gatesOfThread();
  const known = gates.get(checked.runtimeId);
  if (known !== undefined) {
    // The runtime's own verbs attach without options.
    known.useClassifier(options.classify);
    return known;
  }
  const classifier = new ThreadClassifier();
  classifier.use(options.classify);
  const gate = join(checked, classifier, () => gates.delete(checked.runtimeId));
  gates.set(checked.runtimeId, gate);
  return gate;
}

/** This thread's gate, if it has attached. */
export function attachedGate({ runtimeId }: RuntimeHandle): Gate | undefined {
  return gatesOfThread().get(runtimeId);
}

function gatesOfThread(): Map<string, Gate> {
  const scope = globalThis as { [GATES]?: Map<string, Gate> };
  scope[GATES] ??= new Map();
  return scope[GATES];
}

function join(handle: RuntimeHandle, classifier: ThreadClassifier, forget: () => void): Gate {
  const arena = openArena(handle.arena);
  if (Atomics.load(arena.i32, STATE_WORD) !== 0) throw new RuntimeClosedError();
  const registry = new ThreadRegistry(arena);
  const claimed = registry.claim(threadId);
  const { layout, buffer } = arena;
  const thread = new ThreadContext(
    arena,
    layout.thread(claimed.index),
    createClock(handle.epoch),
    nodeTimers,
  );
  const rpcs = new RpcTable(arena);
  const directory = new KeyDirectory(buffer, layout.directory, layout.capacity.pairs);
  const tables = new TableStage(thread, rpcs, directory);
  const ring = new ReportRing(thread);
  // At the end of an operation as good as between two turns of the loop: nothing on the stack looks at the arena.
  const quiesce = (): void => {
    tables.forgetDead();
    registry.quiescence.pass(claimed.index);
  };
  const circuits = new ThreadCircuits({
    thread,
    memory: circuitsInArena(arena),
    owner: claimed.index,
    ring,
    onFull: quiesce,
  });
  const listen = (): void => undefined;
  // Being listened to is what tells a probe that this thread is alive.
  process.on('workerMessage', listen);
  const detach = (): void => {
    forget();
    link.close();
    process.off('workerMessage', listen);
    thread.leave();
    registry.abandon(claimed, threadId);
  };
  const gate: Gate = new Gate({
    thread,
    rpcs,
    tables,
    circuits,
    pressure: new ThreadPressure(thread, directory, ring),
    busy: new BusyReports(thread, ring),
    link: { request: (body) => link.request(body) },
    detach,
    classifier,
  });
  const link: ControlLink = new ControlLink(arena, handle, claimed, {
    changed: () => gate.refresh(),
    quiesce,
    closed() {
      // An owner that has died could not do it.
      arena.kernel.close();
      gate.closeNow();
    },
  });
  return gate;
}
