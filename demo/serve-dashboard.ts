import type { Runtime } from 'spillway';
import { DemoOptionError } from './option-values.js';

/** Serves the dashboard on loopback until the runtime closes, and prints where. @throws DemoOptionError */
export async function serveDashboard(runtime: Runtime, port: number): Promise<void> {
  try {
    const { url } = await runtime.admin.listen({ port });
    console.log(`dashboard: ${url}/`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DemoOptionError(`--serve must be a port that is free, got '${port}': ${reason}`);
  }
}

/** Resolves once the signal is aborted; until then the process stays. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const alive = setInterval(() => undefined, 3_600_000);
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  clearInterval(alive);
}
