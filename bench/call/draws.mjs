/** xorshift32: the same draws for the same seed.
 * @param {number} seed
 * @returns {(below: number) => number}
 */
export function drawsOf(seed) {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
