import { describeValue } from '../shared/quota.js';
import { isVerdict, type Verdict, verdictKind, withPressure } from '../shared/verdict.js';
import type { UndiciResponse } from './undici-message.js';
import { classifyHttpStatus, classifyUndiciError, httpPressure } from './undici-verdict.js';

/**
 * What an attempt says about the peer that it was sent to: the user's word first, then status and error. A failure of
 * another peer, which a redirect below has led to, is none of its own.
 */
export class PeerJudge {
  readonly #classify: (response: UndiciResponse) => Verdict | undefined;
  /** Addresses that have answered, where undici follows redirects below; it grows. */
  #history: readonly URL[] = [];
  #hasHead = false;
  #fault: { readonly error: unknown } | undefined;

  constructor(classify: (response: UndiciResponse) => Verdict | undefined) {
    this.#classify = classify;
  }

  /** What the user's classifier threw. */
  get fault(): { readonly error: unknown } | undefined {
    return this.#fault;
  }

  /** `context` is undici's, with the history of redirects. */
  follow(context: unknown): void {
    const { history } = (context ?? {}) as { readonly history?: readonly URL[] };
    if (Array.isArray(history)) this.#history = history;
  }

  /** @returns undefined: the user's classifier has failed. */
  response(response: UndiciResponse): Verdict | undefined {
    this.#hasHead = true;
    try {
      const said: unknown = this.#classify(response);
      const pressure = this.#hasStrayed() ? undefined : httpPressure(response.headers);
      if (said === undefined)
        return withPressure(this.#ofPeer(classifyHttpStatus(response)), pressure);
      if (isVerdict(said)) return withPressure(said, pressure);
      throw new TypeError(`classify must return a verdict or nothing, got ${describeValue(said)}`);
    } catch (error) {
      this.#fault = { error };
      return undefined;
    }
  }

  error(error: unknown): Verdict {
    return this.#ofPeer(classifyUndiciError(error));
  }

  #ofPeer(verdict: Verdict): Verdict {
    return verdictKind(verdict) === 'failure' && this.#hasStrayed() ? 'ignored' : verdict;
  }

  #hasStrayed(): boolean {
    const [first] = this.#history;
    if (first === undefined) return false;
    // Before the head there is no telling where the redirect has led.
    return !this.#hasHead || this.#history.at(-1)?.origin !== first.origin;
  }
}
