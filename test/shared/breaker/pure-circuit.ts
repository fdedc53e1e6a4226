import { decideAdmission } from '../../../src/shared/breaker/admit-call.js';
import type { BreakerParams } from '../../../src/shared/breaker/breaker-params.js';
import { type CircuitState, HEALTHY } from '../../../src/shared/breaker/circuit-state.js';
import { type CircuitView, viewCircuit } from '../../../src/shared/breaker/circuit-view.js';
import {
  countOutcome,
  countWindow,
  periodOf,
  slotOf,
  WINDOW_SLOTS,
  type WindowSlot,
} from '../../../src/shared/breaker/failure-window.js';
import {
  type CircuitOutcome,
  countsInWindow,
  decideSettlement,
  type PermitTerms,
  type SettleEffect,
} from '../../../src/shared/breaker/settle-permit.js';
import { paramsOf } from './breaker-params.js';

const SALT = 0x5eed;

/** One circuit by the pure decisions alone, and the words that a test says. */
export class PureCircuit {
  params: BreakerParams;
  state: CircuitState = HEALTHY;
  #epoch = 0;
  #window: (WindowSlot | undefined)[] = new Array(WINDOW_SLOTS).fill(undefined);

  constructor(params: Partial<BreakerParams> = {}) {
    this.params = paramsOf(params);
  }

  /** The permit, or how long it is refused, ms. */
  admit(nowMs: number, owner = 0): PermitTerms | number {
    const { params } = this;
    const admission = decideAdmission(this.state, { nowMs, params, salt: SALT, owner });
    if (admission.decision === 'open') return admission.retryAfterMs;
    if (admission.decision === 'closed') return { kind: 'closed', epoch: this.#epoch };
    this.state = admission.next;
    return { kind: 'probe', probing: admission.next };
  }

  settle(permit: PermitTerms | number, outcome: CircuitOutcome, nowMs: number): SettleEffect {
    if (typeof permit === 'number') throw new Error(`it was refused for ${permit} ms`);
    const { params } = this;
    const period = periodOf(nowMs, params.windowMs);
    const counted = countsInWindow(this.state, permit, outcome, params);
    if (counted) {
      const at = slotOf(period);
      this.#window[at] = countOutcome(this.#window[at], period, outcome === 'failure');
    }
    const { next, effect } = decideSettlement(this.state, permit, outcome, {
      nowMs,
      params,
      nextEpoch: this.#epoch + 1,
      counts: counted ? countWindow(this.#window, period) : undefined,
    });
    if (effect === 'closed') {
      this.#epoch += 1;
      this.#window.fill(undefined);
    }
    this.state = next;
    return effect;
  }

  /** Admits and settles at once. */
  call(outcome: CircuitOutcome, nowMs: number): SettleEffect {
    return this.settle(this.admit(nowMs), outcome, nowMs);
  }

  /** As many failures as the threshold asks for. */
  open(nowMs: number): void {
    for (let i = 0; i < this.params.failureThreshold; i++) this.call('failure', nowMs);
  }

  view(nowMs: number): CircuitView {
    return viewCircuit(this.state, this.params, nowMs, SALT);
  }
}
