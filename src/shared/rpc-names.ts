/** Names of the RPC types, in the arena: a name is written before the count that publishes it, and never changes. */
import type { Arena } from './arena.js';
import { HEADER } from './layout.js';

const COUNT = HEADER.RPC_COUNT >>> 2;

export function rpcCount({ i32 }: Arena): number {
  return Atomics.load(i32, COUNT);
}

/** All names, indexed by RPC id. */
export function readRpcNames(arena: Arena): string[] {
  const bytes = new Uint8Array(arena.buffer);
  return Array.from({ length: rpcCount(arena) }, (_, id) => {
    const at = arena.layout.name(id);
    const length = bytes[at] as number;
    return String.fromCharCode(...bytes.subarray(at + 2, at + 2 + length));
  });
}

/** One writer. `names` begins with those that are there. RangeError when they do not fit. */
export function publishRpcNames(arena: Arena, names: readonly string[]): void {
  const { rpcs } = arena.layout.capacity;
  if (names.length > rpcs)
    throw new RangeError(`capacity.rpcs must be at least ${names.length}, got ${rpcs}`);
  const bytes = new Uint8Array(arena.buffer);
  for (let id = rpcCount(arena); id < names.length; id++) {
    const name = names[id] as string;
    const at = arena.layout.name(id);
    bytes[at] = name.length;
    for (let i = 0; i < name.length; i++) bytes[at + 2 + i] = name.charCodeAt(i);
  }
  Atomics.store(arena.i32, COUNT, names.length);
}

/** See {@link MARK}. */
export function rpcMarks(bytes: Uint8Array, nameOffset: number): number {
  return Atomics.load(bytes, nameOffset + 1);
}

export function markRpc(bytes: Uint8Array, nameOffset: number, marks: number): void {
  Atomics.store(bytes, nameOffset + 1, marks);
}
