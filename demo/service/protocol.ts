import type { CapacityParams } from './capacity-meter.js';

/** Parent to service process, over the fork's IPC channel. */
export type ServiceCommand =
  | { readonly kind: 'start'; readonly storeDir: string; readonly capacity: CapacityParams }
  | { readonly kind: 'stop' };

/** Service process to parent. */
export type ServiceEvent =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'stopped'; readonly account: ServiceAccount };

/** What the service did, by its own books. `storedChanges` is read back from the store. */
export interface ServiceAccount {
  readonly accepted: number;
  readonly refused: number;
  readonly storedChanges: number;
  readonly cpuMs: number;
}
