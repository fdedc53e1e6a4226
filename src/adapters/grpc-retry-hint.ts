/**
 * When a gRPC server says to come back: by pushback (gRFC A6: trailing metadata `grpc-retry-pushback-ms`), or by
 * `google.rpc.RetryInfo` in the details of its status (`grpc-status-details-bin`).
 */
import type { Metadata } from '@grpc/grpc-js';

const PUSHBACK_KEY = 'grpc-retry-pushback-ms';
const DETAILS_KEY = 'grpc-status-details-bin';
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';
/** More than this is no message of a status. */
const MAX_BYTES = 65_536;

/** In ms; Infinity: not at all; undefined: the server says nothing. Pushback wins. */
export function grpcRetryAfterMs(metadata: Metadata): number | undefined {
  const pushback = metadata.get(PUSHBACK_KEY);
  if (pushback.length > 0) {
    const [text] = pushback;
    // Negative, or not to be understood: the server asks not to retry at all (gRFC A6).
    return pushback.length === 1 && /^\d{1,15}$/.test(String(text))
      ? Number(text)
      : Number.POSITIVE_INFINITY;
  }
  const [details] = metadata.get(DETAILS_KEY);
  if (!Buffer.isBuffer(details) || details.length > MAX_BYTES) return undefined;
  try {
    return retryDelayMs(details);
  } catch {
    // A hint that cannot be read is none.
    return undefined;
  }
}

/** `google.rpc.Status.details`, the first `RetryInfo` among them, its `retry_delay`. */
function retryDelayMs(status: Buffer): number | undefined {
  for (const [field, any] of fieldsOf(status)) {
    if (field !== 3 || typeof any === 'bigint') continue;
    const parts = new Map(fieldsOf(any));
    const [type, value] = [parts.get(1), parts.get(2)];
    if (typeof type !== 'object' || type.toString('utf8') !== RETRY_INFO) continue;
    const delay = typeof value === 'object' ? new Map(fieldsOf(value)).get(1) : undefined;
    if (typeof delay !== 'object') return undefined;
    const duration = new Map(fieldsOf(delay));
    const ms = Number(signed(duration.get(1))) * 1000 + Number(signed(duration.get(2))) / 1e6;
    return ms >= 0 ? ms : undefined;
  }
  return undefined;
}

function signed(value: bigint | Buffer | undefined): bigint {
  return typeof value === 'bigint' ? BigInt.asIntN(64, value) : 0n;
}

/** The fields of a protobuf message: number, and a varint or bytes. Others are passed over. Throws at a broken one. */
function* fieldsOf(message: Buffer): Generator<readonly [number, bigint | Buffer]> {
  let at = 0;
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      if (shift > 63n) throw new RangeError('a varint must have at most 10 bytes');
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    if (length > message.length - at) throw new RangeError('a field must end within its message');
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const field = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0:
        yield [field, varint()];
        break;
      case 1:
        bytes(8);
        break;
      case 2:
        yield [field, bytes(Number(varint()))];
        break;
      case 5:
        bytes(4);
        break;
      default:
        throw new RangeError('a field must have a known wire type');
    }
  }
}
