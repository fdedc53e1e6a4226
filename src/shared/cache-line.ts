/** What different threads write lies on cache lines of its own. */
const LINE_BYTES = 64;

/** The first byte offset from `offset` on at which a cache line begins. */
export const alignToLine = (offset: number): number => Math.ceil(offset / LINE_BYTES) * LINE_BYTES;
