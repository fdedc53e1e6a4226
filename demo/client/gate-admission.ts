import { attach, type Outcome, type RuntimeHandle } from 'spillway';
import type { AdmissionPoint } from './admission.js';
import { isBusy } from './metadata-client.js';

/** With Spillway each attempt goes through the gate, which hears how it ended. */
export function openGateAdmission(handle: RuntimeHandle, maxWaitMs: number): AdmissionPoint {
  const gate = attach(handle);
  const classify = (outcome: Outcome) => {
    if (outcome.ok) return 'success';
    return isBusy(outcome.error) ? 'busy' : 'failure';
  };
  return {
    admit: ({ rpc, table }, attempt) => gate.call({ rpc, table, maxWaitMs, classify }, attempt),
    close: () => gate.detach(),
  };
}
