// A runtime whose circuits a row uses.
import { createRuntime } from '../../dist/index.js';

export async function startCircuits() {
  const runtime = await createRuntime();
  const { gate } = runtime;
  return { gate, breaker: gate.breaker('10.0.0.7:5000'), close: () => runtime.close() };
}
