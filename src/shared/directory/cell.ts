/**
 * A cell: what is known about one key of one space, 240 bytes at a multiple of 16, never moved while alive. The limiter
 * owns the words between `COUNT` and `GENERATION`; the directory owns the rest. Byte offsets within the cell.
 */
export const CELL_BYTES = 240;

export const CELL_FIELD = {
  /** u64, calls counted so far; any thread adds. */
  COUNT: 0,
  /** u32, tenths of a second: when the pair got its limit; means nothing without one. Control thread. */
  LIMITED_SINCE: 80,
  /** i32, see cell-life.ts; odd: live. */
  GENERATION: 84,
  /** u16 space, u16 key length in bytes; bit 15 of the length: the key is a prefix and a 128-bit hash. */
  META: 88,
  /** i32, the hash that places the key in the slot tables. */
  HASH_LO: 92,
  HASH_HI: 96,
  /** i32, odd: taken, even: free; +1 with each change, see cell-pool.ts. */
  CLAIM: 100,
  /** f64, the measured rate of a pair with a limit; the control thread's, see current-rates.ts in workers. */
  CURRENT_QPS: 104,
  /** 128 bytes of key, zero-padded to a word. */
  KEY: 112,
} as const;

/** Keys up to this many bytes are kept whole. */
export const KEY_BYTES = 128;
/** A longer key keeps at most this prefix; its 128-bit hash takes the rest. */
export const KEY_PREFIX_BYTES = 112;
/** In the key length: the key is a prefix and a hash. */
export const HASHED_KEY = 0x8000;
