/** `text` when it is an integer in its own decimal form that BIGINT holds; otherwise null. */
export function asInt64(text: string | null): string | null {
  if (text === null || !/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return null;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? text : null;
}
