import { crc32 } from 'node:zlib';

/**
 * A group commit on disk: one frame, written and synced as a whole before the next one is begun. So whatever follows a
 * damaged frame tells what the damage is: another frame, and the damaged one had been acknowledged; nothing, and it had
 * not (or was the very last).
 *
 * Head, little-endian: magic u32, length of the body u32, position u64, CRC-32 of the body u32, reserved u32 0 twice,
 * CRC-32 of the 28 bytes before u32. The position counts the bytes of all frames before, from the first of all time on: a
 * frame that was copied or left over elsewhere is none.
 */

export const FRAME_HEAD = 32;
const MAGIC = 0x50_57_4c_46;
const MAGIC_BYTES = Uint8Array.of(0x46, 0x4c, 0x57, 0x50);

/** Fills in the head in front of a body that begins at `FRAME_HEAD`. */
export function sealFrame(frame: Uint8Array, position: number): void {
  const view = viewOf(frame);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, frame.length - FRAME_HEAD, true);
  view.setBigUint64(8, BigInt(position), true);
  view.setUint32(16, crc32(frame.subarray(FRAME_HEAD)), true);
  view.setUint32(20, 0, true);
  view.setUint32(24, 0, true);
  view.setUint32(28, crc32(frame.subarray(0, 28)), true);
}

/** Length of the body of the frame at `at`; undefined: no whole head is there. */
function bodyLengthAt(bytes: Uint8Array, at: number, position: number): number | undefined {
  if (at + FRAME_HEAD > bytes.length) return undefined;
  const view = viewOf(bytes);
  const isHead =
    view.getUint32(at, true) === MAGIC &&
    view.getBigUint64(at + 8, true) === BigInt(position) &&
    view.getUint32(at + 28, true) === crc32(bytes.subarray(at, at + 28));
  return isHead ? view.getUint32(at + 4, true) : undefined;
}

/** Body of the frame at `at`; undefined: it is damaged, or cut off. */
export function bodyAt(bytes: Uint8Array, at: number, position: number): Uint8Array | undefined {
  const length = bodyLengthAt(bytes, at, position);
  if (length === undefined || at + FRAME_HEAD + length > bytes.length) return undefined;
  const body = bytes.subarray(at + FRAME_HEAD, at + FRAME_HEAD + length);
  return crc32(body) === viewOf(bytes).getUint32(at + 16, true) ? body : undefined;
}

/** Whether a frame begins anywhere after `at`, where the one at `at` has position `position`. */
export function hasFrameAfter(bytes: Buffer, at: number, position: number): boolean {
  let found = bytes.indexOf(MAGIC_BYTES, at + 1);
  while (found !== -1) {
    if (bodyLengthAt(bytes, found, position + (found - at)) !== undefined) return true;
    found = bytes.indexOf(MAGIC_BYTES, found + 1);
  }
  return false;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
