/** RPC types name metrics labels, config keys and files' lines, so their alphabet is small. */
const RPC_NAME: RegExp = /^[A-Za-z0-9_.:/-]{1,64}$/;

export const RPC_NAME_RULE = 'must be 1 to 64 characters of A-Z a-z 0-9 _ . : / -';

/** `__proto__` is in the alphabet, but no object can be trusted with it as a key. */
export function isRpcName(value: unknown): value is string {
  return typeof value === 'string' && RPC_NAME.test(value) && value !== '__proto__';
}
