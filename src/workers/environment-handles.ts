/** The handles that `createRuntime` leaves in the environment data, for threads that are started later. */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import type { RuntimeHandle } from './handle.js';

const KEY = 'spillway.handles';

/** Of the youngest runtime that is left. */
export function environmentHandle(): RuntimeHandle | undefined {
  return handles().at(-1);
}

export function leaveHandle(handle: RuntimeHandle): void {
  put([...handles(), handle]);
}

/** Those of other runtimes stay. */
export function withdrawHandle({ runtimeId }: RuntimeHandle): void {
  put(handles().filter((handle) => handle.runtimeId !== runtimeId));
}

/** The oldest first. */
function handles(): readonly RuntimeHandle[] {
  return (getEnvironmentData(KEY) as unknown as readonly RuntimeHandle[] | undefined) ?? [];
}

function put(handles: readonly RuntimeHandle[]): void {
  setEnvironmentData(KEY, (handles.length === 0 ? undefined : handles) as never);
}
