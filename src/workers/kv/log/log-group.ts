import type { LogBatch } from '../../../actors/kv/log-port.js';
import { decodeRecords, encodedLength, encodeRecordsInto } from '../record-codec.js';
import { FRAME_HEAD } from './log-frame.js';

/**
 * The body of a frame: batches one after the other. Each: length of the tablet's name u16, the name (UTF-8), first lsn
 * u64, number of records u32, length of the records u32, records.
 */

const FIXED = 2 + 8 + 4 + 4;

/** A batch as it lies in a group: the records are not looked at yet. */
export interface PackedBatch {
  readonly tablet: string;
  readonly firstLsn: number;
  readonly count: number;
  readonly bytes: Uint8Array;
}

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** With room for the frame's head in front, in a buffer of its own. */
export function packGroup(batches: readonly LogBatch[]): Uint8Array<ArrayBuffer> {
  const parts = batches.map((batch) => ({
    batch,
    name: utf8.encode(batch.tablet),
    length: encodedLength(batch.records),
  }));
  const body = parts.reduce((sum, { name, length }) => sum + FIXED + name.length + length, 0);
  const frame = new Uint8Array(FRAME_HEAD + body);
  const view = new DataView(frame.buffer);
  let at = FRAME_HEAD;
  for (const { batch, name, length } of parts) {
    view.setUint16(at, name.length, true);
    frame.set(name, at + 2);
    at += 2 + name.length;
    view.setBigUint64(at, BigInt(batch.firstLsn), true);
    view.setUint32(at + 8, batch.records.length, true);
    view.setUint32(at + 12, length, true);
    at = encodeRecordsInto(frame, at + 16, batch.records);
  }
  return frame;
}

/** `RangeError` when the body is no group, whatever its checksum says. */
export function unpackGroup(body: Uint8Array): PackedBatch[] {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const batches: PackedBatch[] = [];
  let at = 0;
  while (at < body.length) {
    const nameLength = view.getUint16(at, true);
    const tablet = text.decode(body.subarray(at + 2, at + 2 + nameLength));
    at += 2 + nameLength;
    const firstLsn = Number(view.getBigUint64(at, true));
    const count = view.getUint32(at + 8, true);
    const end = at + 16 + view.getUint32(at + 12, true);
    if (end > body.length) throw new RangeError(`a batch is cut off at ${at}`);
    batches.push({ tablet, firstLsn, count, bytes: body.subarray(at + 16, end) });
    at = end;
  }
  return batches;
}

export function unpackBatch({ tablet, firstLsn, bytes }: PackedBatch): LogBatch {
  return { tablet, firstLsn, records: decodeRecords(bytes) };
}
