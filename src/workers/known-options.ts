/** A misspelled option would be a bound that nobody keeps: what is not known is refused. */

/** `owner`: the option that the object is, if it is one. @throws TypeError that names the first one, and what is known. */
export function checkKnown(options: object, known: ReadonlySet<string>, owner?: string): void {
  // Also what is inherited: it is read as well.
  for (const name in options) {
    if (known.has(name)) continue;
    const field = owner === undefined ? name : `${owner}.${name}`;
    throw new TypeError(`${field} is no option, there are ${[...known].join(', ')}`);
  }
}
