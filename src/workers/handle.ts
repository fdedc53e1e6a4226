/** What a thread needs to attach: plain data that crosses threads. Users pass it on, they do not look inside. */
import type { ArenaHandle } from '../shared/arena.js';
import { HandleVersionError } from '../shared/errors.js';
import { describeValue } from '../shared/quota.js';

/** Changes with the layout of the arena or the messages between threads. */
export const HANDLE_VERSION = 'spillway/1';

/** From `runtime.handle()`; give it to a `Worker` as `workerData`, or in a message. */
export interface RuntimeHandle {
  readonly version: string;
  /** Tells runtimes of one process apart. */
  readonly runtimeId: string;
  /** `hrtime` at the runtime's epoch, ns. */
  readonly epoch: bigint;
  /** Thread that called `createRuntime`. */
  readonly ownerThreadId: number;
  readonly arena: ArenaHandle;
}

/** @throws HandleVersionError for anything else than a handle of this version. */
export function checkHandle(handle: unknown): RuntimeHandle {
  const version = (handle as { version?: unknown } | null)?.version;
  if (
    typeof handle !== 'object' ||
    handle === null ||
    typeof version !== 'string' ||
    !('arena' in handle)
  ) {
    throw new HandleVersionError(
      `handle must be the value of runtime.handle(), got ${describeValue(handle)}`,
    );
  }
  if (version !== HANDLE_VERSION) {
    throw new HandleVersionError(
      `handle must be of version ${HANDLE_VERSION}, got ${version.slice(0, 64)}`,
    );
  }
  return handle as RuntimeHandle;
}
