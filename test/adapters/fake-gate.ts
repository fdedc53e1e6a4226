import type { Verdict } from '../../src/shared/verdict.js';
import type { Attempt } from '../../src/workers/attempt-run.js';
import type { CallOptions } from '../../src/workers/call-options.js';

type Decision = 'go' | { readonly refuse: unknown } | 'hold';

/** Admits at once, holds until `release()`, or refuses; records what it was asked and what came of it. */
export class FakeGate {
  decision: Decision = 'go';
  readonly asked: CallOptions[] = [];
  readonly verdicts: Verdict[] = [];
  readonly #held: (() => void)[] = [];

  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  readonly call = async <T>(options: CallOptions<T>, attempt: Attempt<T>): Promise<T> => {
    this.asked.push(options as CallOptions);
    if (this.decision === 'hold') await this.#hold(options.signal);
    else if (this.decision !== 'go') throw this.decision.refuse;
    try {
      const value = await attempt({ attempt: 1, signal: options.signal });
      this.verdicts.push(options.classify?.({ ok: true, value }) ?? 'success');
      return value;
    } catch (error) {
      this.verdicts.push(options.classify?.({ ok: false, error }) ?? 'failure');
      throw error;
    }
  };

  #hold(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#held.push(resolve);
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  }
}
