import { crc32 } from 'node:zlib';
import { bodyAt, FRAME_HEAD, hasFrameAfter } from './log-frame.js';

/** A file of the log: a head, then frames. It is named after the position of its first frame. */

/** `SPWLLOG1`, position of the first frame u64, reserved, CRC-32 of the 28 bytes before. */
export const SEGMENT_HEAD = 32;
const MAGIC = 'SPWLLOG1';
const NAME = /^[0-9a-f]{16}\.log$/;

export function segmentName(base: number): string {
  return `${base.toString(16).padStart(16, '0')}.log`;
}

/** Position of the first frame; undefined: no segment is called that. */
export function segmentBase(name: string): number | undefined {
  return NAME.test(name) ? Number.parseInt(name.slice(0, 16), 16) : undefined;
}

export function segmentHead(base: number): Uint8Array {
  const head = Buffer.alloc(SEGMENT_HEAD);
  head.write(MAGIC, 0, 'latin1');
  head.writeBigUInt64LE(BigInt(base), 8);
  head.writeUInt32LE(crc32(head.subarray(0, 28)), 28);
  return head;
}

export interface SegmentScan {
  /** Bodies of the whole frames, in order. */
  readonly bodies: readonly Uint8Array[];
  /** Bytes of the file up to which all is well; less than its length: damage begins there. */
  readonly goodBytes: number;
  /** What is damaged is followed by something that was written after it had been synced. */
  readonly isMiddle: boolean;
}

export function scanSegment(bytes: Buffer, base: number): SegmentScan {
  const isHeadFine = bytes.subarray(0, SEGMENT_HEAD).equals(segmentHead(base));
  if (!isHeadFine) {
    // A frame follows the head only once the head is synced.
    const isMiddle = hasFrameAfter(bytes, SEGMENT_HEAD - 1, base - 1);
    return { bodies: [], goodBytes: 0, isMiddle };
  }
  const bodies: Uint8Array[] = [];
  let at = SEGMENT_HEAD;
  while (at < bytes.length) {
    const position = base + at - SEGMENT_HEAD;
    const body = bodyAt(bytes, at, position);
    if (body === undefined) {
      return { bodies, goodBytes: at, isMiddle: hasFrameAfter(bytes, at, position) };
    }
    bodies.push(body);
    at += FRAME_HEAD + body.length;
  }
  return { bodies, goodBytes: at, isMiddle: false };
}
