import { attach, type Classifier, type RuntimeHandle } from 'spillway';
import type { AdmissionPoint } from './admission.js';
import { isBusy } from './metadata-client.js';

const classify: Classifier = (outcome) => {
  if (outcome.ok) return 'success';
  return isBusy(outcome.error) ? 'busy' : 'failure';
};

/** With Spillway each attempt goes through the gate, which hears how it ended. */
export function openGateAdmission(handle: RuntimeHandle, maxWaitMs: number): AdmissionPoint {
  const gate = attach(handle, { classify });
  return {
    admit: ({ rpc, table }, attempt) => gate.call({ rpc, table, maxWaitMs }, attempt),
    close: () => gate.detach(),
  };
}
