/** `google.rpc.Status` with a `RetryInfo` among its details, in the wire format of protobuf. */
export function statusDetails(delay: { seconds?: number; nanos?: number } | undefined): Buffer {
  const duration = Buffer.concat([
    varintField(1, delay?.seconds ?? 0),
    varintField(2, delay?.nanos ?? 0),
  ]);
  const retryInfo = delay === undefined ? Buffer.alloc(0) : bytesField(1, duration);
  return Buffer.concat([
    varintField(1, 14),
    bytesField(2, Buffer.from('try later')),
    bytesField(3, any('type.googleapis.com/google.rpc.Help', Buffer.from([0x0a, 0x00]))),
    bytesField(3, any('type.googleapis.com/google.rpc.RetryInfo', retryInfo)),
  ]);
}

function any(type: string, value: Buffer): Buffer {
  return Buffer.concat([bytesField(1, Buffer.from(type)), bytesField(2, value)]);
}

function bytesField(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint(BigInt((field << 3) | 2)), varint(BigInt(value.length)), value]);
}

function varintField(field: number, value: number): Buffer {
  return Buffer.concat([varint(BigInt(field << 3)), varint(BigInt.asUintN(64, BigInt(value)))]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
