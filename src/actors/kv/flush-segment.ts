/** How a write changes the number of rows. */
export type RowChange = 'insert' | 'update' | 'delete';

/** A part of a flush that becomes one atomic write of the engine. */
export interface FlushSegment {
  readonly count: number;
  /** Everything below this offset is in the store once the segment is. */
  readonly upTo: number;
  /** Rows that it adds, less those that it removes. */
  readonly rowCountDiff: number;
}

export interface SegmentLimits {
  /** Bytes of keys and values; 0 or less: no limit. An entry above it is a segment of its own. */
  readonly maxBytes: number;
  /** An integer >= 1. */
  readonly maxRecords: number;
}

/** What a segment is counted by. */
export interface FlushEntry {
  readonly lsn: number;
  readonly bytes: number;
  readonly change: RowChange;
}

export function rowDiff(change: RowChange): number {
  if (change === 'update') return 0;
  return change === 'insert' ? 1 : -1;
}

/**
 * Cuts `entries` into segments, in order, each as large as the limits allow. A segment reaches up to the first entry of
 * the next one, the last up to `upTo`; nothing to flush is one empty segment, which still moves the offset.
 */
export function splitSegments(
  entries: readonly FlushEntry[],
  upTo: number,
  { maxBytes, maxRecords }: SegmentLimits,
): FlushSegment[] {
  if (!(Number.isInteger(maxRecords) && maxRecords >= 1)) {
    throw new RangeError(`maxRecords must be an integer >= 1, got ${String(maxRecords)}`);
  }
  const segments: FlushSegment[] = [];
  let count = 0;
  let bytes = 0;
  let rowCountDiff = 0;
  for (const entry of entries) {
    const isFull =
      count >= maxRecords || (maxBytes > 0 && count > 0 && bytes + entry.bytes > maxBytes);
    if (isFull) {
      segments.push({ count, upTo: entry.lsn, rowCountDiff });
      count = 0;
      bytes = 0;
      rowCountDiff = 0;
    }
    count += 1;
    bytes += entry.bytes;
    rowCountDiff += rowDiff(entry.change);
  }
  segments.push({ count, upTo, rowCountDiff });
  return segments;
}
