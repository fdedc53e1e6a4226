/** One candidate of a read from peers: asked through its circuit, within its time to connect and to answer. */
import {
  AttemptTimeoutError,
  CircuitOpenError,
  RateLimitExceededError,
  RuntimeClosedError,
} from '../shared/errors.js';
import { PEER_STATS } from '../shared/layout.js';
import { verdictKind } from '../shared/verdict.js';
import { type AdmissionStage, admit } from './admission.js';
import { type EndedAttempt, judge } from './attempt-run.js';
import { AttemptScope, type Bound } from './attempt-scope.js';
import type { CallLine } from './call-line.js';
import { cancelAll, settleAll, spendAll, type Taken } from './hold.js';
import type { Outcome } from './outcome.js';
import type {
  PeerAttempt,
  PeerContext,
  PeerReadCallback,
  PlannedRead,
} from './peer-read-options.js';
import type { ReadDeadline } from './read-deadline.js';
import type { ReadPatience } from './read-patience.js';
import type { ThreadContext } from './thread-context.js';

export interface CandidateParts<T> {
  readonly thread: ThreadContext;
  readonly stages: readonly AdmissionStage[];
  /** Of the RPC type, if there is one. */
  readonly line: CallLine | undefined;
  readonly plan: PlannedRead<T>;
  readonly patience: ReadPatience;
  readonly deadline: ReadDeadline;
  readonly read: PeerReadCallback<T>;
  /** Told of each try when it has ended. */
  readonly onEnded: (attempt: PeerAttempt) => void;
}

export type Asked<T> =
  | { readonly kind: 'served'; readonly value: T }
  /** It does not have it, or did not answer. */
  | { readonly kind: 'missed' }
  /** Its circuit is open: it was not asked. */
  | { readonly kind: 'open' }
  /** Nobody can be asked any more: by the limits of the RPC type, or because the runtime closes. */
  | { readonly kind: 'stopped' };

/**
 * Asks one candidate, again as often as `connectRetries` says when it cannot be connected to in time. Rejects only with
 * what ends the whole read: the signal's reason, or what the classifier threw.
 */
export async function askCandidate<T>(
  parts: CandidateParts<T>,
  address: string,
  signal: AbortSignal | undefined,
  isProbe: boolean,
): Promise<Asked<T>> {
  const { connectRetries } = parts.plan;
  for (let attempt = 1; ; attempt++) {
    const entered = await enter(parts, address, signal);
    if (entered.kind !== 'entered') return entered;
    const one = { address, attempt, signal };
    const { ended, unconnected } = await readOnce(parts, one, entered.taken);
    const { outcome, verdict, fault } = ended;
    const kind = verdictKind(verdict);
    parts.onEnded({
      address,
      verdict: kind,
      probe: isProbe,
      ...(!outcome.ok && { error: outcome.error }),
    });
    if (fault !== undefined) throw fault.error;
    // What says nothing about the peer may still be what was asked for.
    if (outcome.ok && (kind === 'success' || kind === 'ignored'))
      return { kind: 'served', value: outcome.value };
    signal?.throwIfAborted();
    count(parts.thread, 'MISSES');
    if (!unconnected || attempt > connectRetries) return { kind: 'missed' };
  }
}

interface Entered {
  readonly kind: 'entered';
  readonly taken: Taken | undefined;
}

async function enter<T>(
  { thread, stages, plan, patience, deadline }: CandidateParts<T>,
  address: string,
  signal: AbortSignal | undefined,
): Promise<Entered | Asked<T>> {
  let taken: Taken | undefined;
  try {
    signal?.throwIfAborted();
    const { rpc = '', table } = plan;
    const call = { rpc, table, address, weight: 1, signal };
    const entering = admit(stages, call, leftMs(thread, patience, deadline));
    taken = entering instanceof Promise ? await patience.during(entering) : entering;
    signal?.throwIfAborted();
    if (thread.closing() || thread.hasLeft) throw new RuntimeClosedError();
    return { kind: 'entered', taken };
  } catch (error) {
    cancelAll(taken);
    if (error instanceof CircuitOpenError) return { kind: 'open' };
    const isStopped =
      error instanceof RateLimitExceededError || error instanceof RuntimeClosedError;
    if (isStopped) return { kind: 'stopped' };
    throw error;
  }
}

interface Try {
  readonly address: string;
  readonly attempt: number;
  readonly signal: AbortSignal | undefined;
}

async function readOnce<T>(
  { thread, line, plan, read, deadline }: CandidateParts<T>,
  { address, attempt, signal }: Try,
  taken: Taken | undefined,
): Promise<{ readonly ended: EndedAttempt<T>; readonly unconnected: boolean }> {
  spendAll(taken);
  line?.goesOut();
  count(thread, 'ATTEMPTS');
  deadline.begins();
  const { connectTimeoutMs, attemptTimeoutMs, classify } = plan;
  let unconnected = false;
  const times = { address, attempt, connectTimeoutMs, attemptTimeoutMs };
  const bounds = createBounds(thread.nowNs(), times, deadline, (phase) => {
    line?.account.count('TIMEOUTS');
    if (phase === 'attempt') return;
    unconnected = true;
    count(thread, 'CONNECT_TIMEOUTS');
  });
  const scope = new AttemptScope(thread, attempt, signal, () => line?.account.count('LATE'));
  const context: PeerContext = {
    address,
    attempt,
    connectTimeoutMs,
    get signal() {
      return scope.signal;
    },
    connected: () => scope.rebound(bounds.connected),
  };
  // Once the caller has gone nobody waits for a callback that does not listen.
  const { signal: caller } = plan;
  const unwatch = caller && thread.signals.watch(caller, () => scope.abandon(caller.reason));
  let outcome: Outcome<T>;
  try {
    outcome = { ok: true, value: await scope.run(() => read(address, context), bounds.connecting) };
  } catch (error) {
    outcome = { ok: false, error };
    deadline.ended(error);
  } finally {
    unwatch?.();
  }
  const ended: EndedAttempt<T> = scope.left
    ? { outcome, verdict: signal?.aborted === true ? 'ignored' : 'failure', fault: undefined }
    : judge(outcome, classify, signal);
  const kind = verdictKind(ended.verdict);
  settleAll(taken, kind);
  line?.account.ended(kind);
  if (ended.fault !== undefined) line?.account.count('CLASSIFIER_FAULTS');
  return { ended, unconnected };
}

interface Times {
  readonly address: string;
  readonly attempt: number;
  readonly connectTimeoutMs: number;
  readonly attemptTimeoutMs: number;
}

type Phase = 'connect' | 'attempt';

/** Longest that the stages may still hold it. */
function leftMs(thread: ThreadContext, patience: ReadPatience, deadline: ReadDeadline): number {
  if (deadline.atNs === Number.POSITIVE_INFINITY) return patience.leftMs();
  return Math.min(patience.leftMs(), deadline.leftMs(thread.nowNs()));
}

/** Until there is a connection, and from then on. Both count from `nowNs`; the deadline of the read bounds both. */
function createBounds(
  nowNs: number,
  { address, attempt, connectTimeoutMs, attemptTimeoutMs }: Times,
  deadline: ReadDeadline,
  onExceeded: (phase: Phase) => void,
): { readonly connecting: Bound; readonly connected: Bound } {
  const bound = (timeoutMs: number, phase: Phase, didNot: string): Bound => {
    const timeoutNs = timeoutMs === 0 ? Number.POSITIVE_INFINITY : nowNs + timeoutMs * 1e6;
    const exceeded = (): unknown => {
      if (deadline.atNs <= timeoutNs) return deadline.exceeded();
      onExceeded(phase);
      const message = `${address} ${didNot} within ${timeoutMs} ms`;
      return new AttemptTimeoutError(message, { attempt, timeoutMs, phase });
    };
    return { atNs: Math.min(timeoutNs, deadline.atNs), exceeded };
  };
  const connecting = bound(connectTimeoutMs, 'connect', 'was not connected');
  const connected = bound(attemptTimeoutMs, 'attempt', 'did not answer');
  return { connecting: connecting.atNs < connected.atNs ? connecting : connected, connected };
}

export function count(thread: ThreadContext, event: keyof typeof PEER_STATS): void {
  thread.count(thread.place.peers + PEER_STATS[event], 1);
}
