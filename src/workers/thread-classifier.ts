/** What outcomes of a thread's calls mean where a call does not say it: set once, by whoever attaches with a classifier. */

import { classifyByError } from '../shared/classify-by-error.js';
import { IllegalStateError } from '../shared/errors.js';
import { describeValue } from '../shared/quota.js';
import type { Classifier } from './outcome.js';

export class ThreadClassifier {
  #own: Classifier | undefined;

  /** Undefined: by the error alone, so that an answer is a success. */
  get own(): Classifier | undefined {
    return this.#own;
  }

  readonly classify: Classifier = (outcome) => (this.#own ?? classifyByError)(outcome);

  /** @throws TypeError for what is no function; IllegalStateError when the thread has another one already. */
  use(classify: Classifier | undefined): void {
    if (classify === undefined) return;
    if (typeof classify !== 'function') {
      throw new TypeError(`classify must be a function, got ${describeValue(classify)}`);
    }
    if (this.#own !== undefined && this.#own !== classify) {
      throw new IllegalStateError('this thread has attached with another classify already');
    }
    this.#own = classify;
  }
}
