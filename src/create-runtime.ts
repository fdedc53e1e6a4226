/** Where the runtime meets the adapters that it can start: they are loaded when they are asked for, not before. */
import type { RuntimeOptions } from './workers/config/options.js';
import { type Runtime, startRuntime } from './workers/runtime.js';

/**
 * Starts a runtime: checks the options, lays out the arena, starts the control thread. Threads that are started from now
 * on find it with `attach()`.
 * @throws (rejects) ConfigError, before anything has been started.
 */
export function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return startRuntime(options, async (runtime, listen) => {
    const { listenAdmin } = await import('./adapters/admin/listen.js');
    return listenAdmin(runtime, listen);
  });
}
