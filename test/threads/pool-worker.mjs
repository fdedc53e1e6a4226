/** Tasks of a piscina pool, whose workers find the runtime through the environment data. */
import { attach } from '../../dist/index.js';

/** @param {{ rpc: string }} task */
export function take({ rpc }) {
  return attach().tryAcquire(rpc);
}
