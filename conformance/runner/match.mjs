// What "equal" means in a vector: a subset of the result, numbers within a tolerance.

/**
 * @typedef {{ readonly tol: number, readonly absTol: number }} Tolerance
 */

const UNORDERED = 'Unordered';

/**
 * @param {unknown} want
 * @param {unknown} got
 * @param {Tolerance} tolerance
 * @param {string} [path]
 * @returns {string | undefined} the first place where they differ; undefined when they match
 */
export function mismatch(want, got, tolerance, path = '') {
  if (want === null) return got === null || got === undefined ? undefined : at(path);
  if (typeof want === 'number') return matchesNumber(want, got, tolerance) ? undefined : at(path);
  if (Array.isArray(want)) return mismatchInArray(want, got, tolerance, path);
  if (typeof want === 'object') {
    return mismatchInObject(/** @type {Record<string, unknown>} */ (want), got, tolerance, path);
  }
  return want === got ? undefined : at(path);
}

/** @param {number} want @param {unknown} got @param {Tolerance} tolerance */
function matchesNumber(want, got, { tol, absTol }) {
  return typeof got === 'number' && Math.abs(got - want) <= Math.max(absTol, tol * Math.abs(want));
}

/** @param {readonly unknown[]} want @param {unknown} got @param {Tolerance} tolerance @param {string} path */
function mismatchInArray(want, got, tolerance, path) {
  if (!Array.isArray(got) || got.length !== want.length) return at(path);
  for (const [i, element] of want.entries()) {
    const place = mismatch(element, got[i], tolerance, `${path}[${i}]`);
    if (place !== undefined) return place;
  }
  return undefined;
}

/** @param {Readonly<Record<string, unknown>>} want @param {unknown} got @param {Tolerance} tolerance @param {string} path */
function mismatchInObject(want, got, tolerance, path) {
  if (typeof got !== 'object' || got === null || Array.isArray(got)) return at(path);
  const result = /** @type {Readonly<Record<string, unknown>>} */ (got);
  for (const [key, value] of Object.entries(want)) {
    const place = `${path}.${key}`;
    if (key.endsWith(UNORDERED) && Array.isArray(value)) {
      const plain = key.slice(0, -UNORDERED.length);
      const elements = plain in result ? result[plain] : result[key];
      if (!isSameMultiset(value, elements, tolerance)) return at(place);
      continue;
    }
    const inner = mismatch(value, result[key], tolerance, place);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/**
 * Elements match loosely, so one may fit several: pairs them off by augmenting paths rather than by the first fit.
 *
 * @param {readonly unknown[]} want
 * @param {unknown} got
 * @param {Tolerance} tolerance
 */
function isSameMultiset(want, got, tolerance) {
  if (!Array.isArray(got) || got.length !== want.length) return false;
  /** Which wanted element has taken a result. @type {(number | undefined)[]} */
  const takenBy = new Array(got.length).fill(undefined);
  /** @param {number} wanted @param {Set<number>} visited @returns {boolean} */
  const place = (wanted, visited) => {
    for (let i = 0; i < got.length; i += 1) {
      if (visited.has(i) || mismatch(want[wanted], got[i], tolerance) !== undefined) continue;
      visited.add(i);
      const holder = takenBy[i];
      if (holder !== undefined && !place(holder, visited)) continue;
      takenBy[i] = wanted;
      return true;
    }
    return false;
  };
  return want.every((_, wanted) => place(wanted, new Set()));
}

/** @param {string} path */
function at(path) {
  return path === '' ? 'result' : `result${path}`;
}
