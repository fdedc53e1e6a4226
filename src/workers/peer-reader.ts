/**
 * `gate.readFromPeers`: candidates whose circuit is closed, one after the other or raced; then the probe of a circuit that
 * may be probed; then the fallback. An open circuit takes no candidate away: it is only passed over for now.
 */
import { RuntimeClosedError } from '../shared/errors.js';
import { THREAD } from '../shared/layout.js';
import { describeValue } from '../shared/quota.js';
import type { AdmissionStage } from './admission.js';
import { AttemptScope } from './attempt-scope.js';
import type { CallLine } from './call-line.js';
import type { Classifier } from './outcome.js';
import { type Asked, askCandidate, type CandidateParts, count } from './peer-candidate.js';
import {
  type FallbackCallback,
  type PeerAttempt,
  type PeerRead,
  type PeerReadCallback,
  type PeerReadOptions,
  type PlannedRead,
  planRead,
} from './peer-read-options.js';
import { ReadDeadline } from './read-deadline.js';
import { ReadPatience } from './read-patience.js';
import type { ThreadCircuits } from './thread-circuits.js';
import type { ThreadContext } from './thread-context.js';

export interface PeerReaderParts {
  readonly thread: ThreadContext;
  readonly circuits: ThreadCircuits;
  /** All stages, for reads that belong to an RPC type. */
  readonly stages: readonly AdmissionStage[];
  /** The circuit alone, for others. */
  readonly circuitStage: AdmissionStage;
  /** @throws UnknownRpcError, RuntimeClosedError. */
  readonly lineOf: (rpc: string) => CallLine;
  readonly isClosed: () => boolean;
  readonly classify: Classifier | undefined;
}

type Standing = 'closed' | 'due' | 'open';

interface Candidate {
  readonly address: string;
  readonly standing: Standing;
}

export class PeerReader {
  readonly #parts: PeerReaderParts;

  constructor(parts: PeerReaderParts) {
    this.#parts = parts;
  }

  /** See `Gate.readFromPeers`. */
  async read<T>(
    options: PeerReadOptions<T>,
    read: PeerReadCallback<T>,
    fallback: FallbackCallback<T>,
  ): Promise<PeerRead<T>> {
    const { thread, stages, circuitStage, lineOf, isClosed } = this.#parts;
    const plan = planRead(options, thread.settings(), this.#parts.classify);
    for (const [name, callback] of Object.entries({ read, fallback })) {
      if (typeof callback !== 'function')
        throw new TypeError(`${name} must be a function, got ${describeValue(callback)}`);
    }
    if (isClosed()) throw new RuntimeClosedError();
    const line = plan.rpc === undefined ? undefined : lineOf(plan.rpc);
    const candidates = this.#candidates(plan.candidates);
    const active = thread.place.header + THREAD.ACTIVE;
    thread.count(active, 1);
    try {
      plan.signal?.throwIfAborted();
      const attempts: PeerAttempt[] = [];
      const deadline = new ReadDeadline(
        plan.deadlineMs,
        plan.deadlineMs === 0 ? 0 : thread.nowNs(),
      );
      const parts: CandidateParts<T> = {
        thread,
        stages: line === undefined ? [circuitStage] : stages,
        line,
        plan,
        patience: new ReadPatience(plan.maxWaitMs, () => thread.nowNs()),
        deadline,
        read,
        onEnded: (attempt) => attempts.push(attempt),
      };
      const round = new ReadRound(parts);
      const served = await round.ask(candidates);
      for (const _ of round.open) count(thread, 'OPEN');
      if (served !== undefined) {
        count(thread, 'SERVED_BY_PEER');
        const source = { kind: 'peer', address: served.address } as const;
        return { value: served.value, source, attempts: [...attempts], open: round.open };
      }
      plan.signal?.throwIfAborted();
      if (plan.deadlineMs !== 0) deadline.check(thread.nowNs());
      const value = await this.#fallback(fallback, plan, deadline, [...attempts]);
      count(thread, 'SERVED_BY_FALLBACK');
      return { value, source: { kind: 'fallback' }, attempts, open: round.open };
    } finally {
      thread.count(active, -1);
    }
  }

  /** Left behind when its time is over or the caller has gone, whether it listens or not. */
  async #fallback<T>(
    fallback: FallbackCallback<T>,
    { signal }: PlannedRead<T>,
    deadline: ReadDeadline,
    attempts: readonly PeerAttempt[],
  ): Promise<T> {
    const { thread } = this.#parts;
    const isBounded = deadline.atNs !== Number.POSITIVE_INFINITY;
    if (!isBounded && signal === undefined) return fallback({ signal, attempts });
    const scope = new AttemptScope(thread, 1, signal, () => undefined);
    const bound = { atNs: deadline.atNs, exceeded: () => deadline.exceeded() };
    const context = {
      attempts,
      get signal() {
        return isBounded ? scope.signal : signal;
      },
    };
    const unwatch = signal && thread.signals.watch(signal, () => scope.abandon(signal.reason));
    try {
      return await scope.run(() => fallback(context), bound);
    } finally {
      unwatch?.();
    }
  }

  /** Each peer once, however often and in whatever spelling it is named. */
  #candidates(addresses: readonly string[]): Candidate[] {
    const { circuits } = this.#parts;
    const known = new Map<string, Candidate>();
    for (const address of addresses) {
      const place = circuits.place(address);
      if (known.has(place.address)) continue;
      const { state, retryAfterMs } = circuits.view(place);
      const isClosed = state === 'closed' || !circuits.enabled;
      const standing = isClosed ? 'closed' : retryAfterMs === 0 ? 'due' : 'open';
      known.set(place.address, { address, standing });
    }
    return [...known.values()];
  }
}

interface Served<T> {
  readonly address: string;
  readonly value: T;
}

/** One round through the candidates of one read. */
class ReadRound<T> {
  readonly open: string[] = [];
  readonly #parts: CandidateParts<T>;
  readonly #plan: PlannedRead<T>;
  #probed = false;
  #stopped = false;

  constructor(parts: CandidateParts<T>) {
    this.#parts = parts;
    this.#plan = parts.plan;
  }

  async ask(candidates: readonly Candidate[]): Promise<Served<T> | undefined> {
    const { race, probe, signal } = this.#plan;
    const closed = candidates.filter(({ standing }) => standing === 'closed');
    const due = candidates.filter(({ standing }) => standing === 'due');
    for (const { address, standing } of candidates)
      if (standing === 'open') this.open.push(address);
    if (race) {
      const served = await this.#race(closed);
      return served ?? (await this.#inTurn(due, signal));
    }
    if (probe === 'last') return this.#inTurn([...closed, ...due], signal);
    return this.#inTurn(
      candidates.filter(({ standing }) => standing !== 'open'),
      signal,
    );
  }

  async #inTurn(
    candidates: readonly Candidate[],
    signal: AbortSignal | undefined,
  ): Promise<Served<T> | undefined> {
    for (const { address, standing } of candidates) {
      if (this.#stopped || this.#isLate()) return undefined;
      const isProbe = standing === 'due';
      if (isProbe && this.#probed) {
        this.open.push(address);
        continue;
      }
      const asked = await askCandidate(this.#parts, address, signal, isProbe);
      if (asked.kind === 'served') return { address, value: asked.value };
      if (isProbe && asked.kind === 'missed') this.#probed = true;
      this.#note(address, asked);
    }
    return undefined;
  }

  /** All at once: the first that serves wins, the others are cancelled. */
  async #race(candidates: readonly Candidate[]): Promise<Served<T> | undefined> {
    if (candidates.length < 2) return this.#inTurn(candidates, this.#plan.signal);
    const { signal: caller } = this.#plan;
    const over = new AbortController();
    const unwatch =
      caller && this.#parts.thread.signals.watch(caller, () => over.abort(caller.reason));
    try {
      return await new Promise((resolve, reject) => {
        let running = candidates.length;
        for (const { address } of candidates) {
          askCandidate(this.#parts, address, over.signal, false).then((asked) => {
            running -= 1;
            if (asked.kind === 'served') resolve({ address, value: asked.value });
            else {
              this.#note(address, asked);
              if (running === 0) resolve(undefined);
            }
          }, reject);
        }
      });
    } finally {
      unwatch?.();
      over.abort(new DOMException('another candidate was faster', 'AbortError'));
    }
  }

  #isLate(): boolean {
    const { deadline, thread } = this.#parts;
    return deadline.atNs !== Number.POSITIVE_INFINITY && thread.nowNs() >= deadline.atNs;
  }

  #note(address: string, asked: Asked<T>): void {
    if (asked.kind === 'open') this.open.push(address);
    else if (asked.kind === 'stopped') this.#stopped = true;
  }
}
