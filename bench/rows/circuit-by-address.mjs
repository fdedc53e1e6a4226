import { timeLoop } from '../harness/time-loop.mjs';
import { startCircuits } from './circuit-runtime.mjs';

/** As `gate.call` does it: by the address, of 100 healthy peers in turn. */
export async function measure() {
  const { gate, close } = await startCircuits();
  const addresses = Array.from({ length: 100 }, (_, i) => `10.0.0.${i}:5000`);
  let at = 0;
  const sample = await timeLoop((n) => {
    let admitted = 0;
    for (let i = 0; i < n; i += 1) {
      const permit = gate.breaker(/** @type {string} */ (addresses[at])).admit();
      at = at === 99 ? 0 : at + 1;
      if (!permit.isProbe) admitted += 1;
      permit.success();
    }
    return admitted;
  });
  await close();
  return sample;
}
