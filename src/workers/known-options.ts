/** A misspelled option would be a bound that nobody keeps: what is not known is refused. */
import { describeValue } from '../shared/quota.js';

/** `owner`: the option that the object is, if it is one. @throws TypeError for what is no object, or that names the first one, and what is known. */
export function checkKnown(options: object, known: ReadonlySet<string>, owner?: string): void {
  if (typeof options !== 'object' || options === null) {
    const field = owner ?? 'options';
    throw new TypeError(`${field} must be an object, got ${describeValue(options)}`);
  }
  // Also what is inherited: it is read as well.
  for (const name in options) {
    if (known.has(name)) continue;
    const field = owner === undefined ? name : `${owner}.${name}`;
    throw new TypeError(`${field} is no option, there are ${[...known].join(', ')}`);
  }
}
