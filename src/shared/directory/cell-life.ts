/**
 * The generation word of a cell decides, by itself, whether the cell is alive. Its low three bits are the state, the bits
 * above count the times it came alive, so that every live period has a generation of its own:
 *
 *     fresh --publish--> live <--use/undo-- condemned --finish--> dead --reclaim--> fresh
 *                         |                     ^
 *                         +-------condemn-------+
 *
 * `live` is odd, everything else even. Any thread moves fresh or condemned to live (it found the cell by its key and so
 * wants it); only the control thread condemns, finishes and reclaims. Each move is one compare-and-swap from a value that
 * is never used twice, so of `use` and `finish` exactly one wins, and dead is final until the cell is reclaimed.
 */
export const CELL_STATE = { FRESH: 0, LIVE: 1, CONDEMNED: 2, DEAD: 4 } as const;

const STATE_MASK = 7;

export const stateOf = (generation: number): number => generation & STATE_MASK;
export const isLive = (generation: number): boolean => (generation & 1) === 1;

/** The generation of the next live period. */
export const revived = (generation: number): number =>
  ((generation & ~STATE_MASK) + STATE_MASK + 1) | CELL_STATE.LIVE;
export const condemned = (live: number): number => (live & ~STATE_MASK) | CELL_STATE.CONDEMNED;
export const dead = (condemned: number): number => (condemned & ~STATE_MASK) | CELL_STATE.DEAD;
export const reclaimed = (generation: number): number =>
  (generation & ~STATE_MASK) | CELL_STATE.FRESH;
