/** What threads say to each other. Plain data; errors in the wire form of error-codec.ts. */
import type { MessagePort } from 'node:worker_threads';
import type { UpgradeRecord } from '../actors/throttle/state-machine.js';
import type { InForce } from './apply-config.js';
import type { ConfigPatch, RuntimeOptions } from './config/options.js';
import type { WireThrown } from './error-codec.js';
import type { RuntimeHandle } from './handle.js';
import type { ControlEvent } from './runtime-events.js';

/** Attached thread to control thread, once, by `postMessageToThread`: here is my port, watch over me. */
export interface Offer {
  readonly spillway: 'offer';
  readonly runtimeId: string;
  readonly index: number;
  readonly claim: number;
  readonly port: MessagePort;
}

/** Anything by `postMessageToThread` that only asks whether the thread is there. */
export interface Probe {
  readonly spillway: 'probe';
}

export type RequestBody =
  /** `ifVersion`: only if that is in force. */
  | { readonly kind: 'update'; readonly patch: ConfigPatch; readonly ifVersion?: number }
  /** Reads the options and their file again; what patches did is gone. */
  | { readonly kind: 'reload'; readonly options: RuntimeOptions };

/** A request over the port; answered with a {@link Reply} of the same id. */
export type Request = RequestBody & { readonly id: number };

export type Reply =
  | { readonly kind: 'reply'; readonly id: number; readonly version: number }
  | { readonly kind: 'failed'; readonly id: number; readonly error: WireThrown };

/** Control thread to an attached thread. */
export type Notice =
  | { readonly kind: 'watched' }
  /** Limits or settings have changed. */
  | { readonly kind: 'changed' }
  /** Pass a quiescent point. */
  | { readonly kind: 'quiesce' }
  /** The runtime is closed: reject who still waits. */
  | { readonly kind: 'closed' };

/** Control thread to the owner. */
export type Report =
  | { readonly kind: 'ready' }
  | { readonly kind: 'config'; readonly inForce: InForce }
  | { readonly kind: 'history'; readonly history: readonly UpgradeRecord[] }
  | { readonly kind: 'event'; readonly event: ControlEvent };

/** Owner to the control thread. */
export interface Command {
  readonly kind: 'close';
}

/** What a control thread starts with. */
export interface ControlStart {
  readonly handle: RuntimeHandle;
  readonly generation: number;
  readonly cores: number;
  readonly inForce: InForce;
  readonly history: readonly UpgradeRecord[];
}
