/**
 * When an upgrade or a downgrade is due. Pure and without a clock: time comes as ticks (1 ms each in a runtime). The rule
 * is the seed's (Apache Doris, cloud meta-service back-pressure): a BUSY upgrades unless the cooldown since the last
 * upgrade is running; so many ticks without BUSY undo one upgrade, as long as one is left to undo.
 */

export interface CoordinatorParams {
  /** Ticks between two upgrades, >= 0. */
  readonly upgradeCooldownTicks: number;
  /** Ticks without BUSY before a downgrade, >= 0. */
  readonly downgradeAfterTicks: number;
}

export interface CoordinatorState {
  /** Stops at `downgradeAfterTicks`; -1: inactive, because nothing is left to undo or no BUSY ever came. */
  readonly ticksSinceBusy: number;
  /** Stops at `upgradeCooldownTicks`; -1: never upgraded. */
  readonly ticksSinceUpgrade: number;
  /** Whether an upgrade is left to undo. */
  readonly pendingUpgrades: boolean;
}

export const INITIAL_COORDINATOR: CoordinatorState = Object.freeze({
  ticksSinceBusy: -1,
  ticksSinceUpgrade: -1,
  pendingUpgrades: false,
});

/**
 * The state after a restart that found limits in force: the quiet time and the cooldown begin anew, so that the limits
 * are relaxed later even if BUSY never comes again, and a restart does not make upgrades come faster.
 */
export const RESTORED_COORDINATOR: CoordinatorState = Object.freeze({
  ticksSinceBusy: 0,
  ticksSinceUpgrade: 0,
  pendingUpgrades: true,
});

/** The downstream said BUSY, once or many times in this tick. */
export function busy(
  state: CoordinatorState,
  params: CoordinatorParams,
): { readonly state: CoordinatorState; readonly upgrade: boolean } {
  const { ticksSinceUpgrade, pendingUpgrades } = state;
  if (ticksSinceUpgrade < 0 || ticksSinceUpgrade >= params.upgradeCooldownTicks) {
    return {
      state: { ticksSinceBusy: 0, ticksSinceUpgrade: 0, pendingUpgrades: true },
      upgrade: true,
    };
  }
  if (!pendingUpgrades) return { state, upgrade: false };
  return { state: { ...state, ticksSinceBusy: 0 }, upgrade: false };
}

/**
 * `n` ticks have passed, an integer from 0 to 2^53 - 1 (`RangeError` otherwise). At most one downgrade comes of it: the
 * rest of a long jump is dropped, so that a stalled thread never undoes several levels at once.
 */
export function tick(
  state: CoordinatorState,
  params: CoordinatorParams,
  n: number,
): { readonly state: CoordinatorState; readonly downgrade: boolean } {
  if (!Number.isSafeInteger(n) || n < 0) {
    throw new RangeError(`n must be an integer from 0 to 2^53 - 1, got ${String(n)}`);
  }
  const ticksSinceUpgrade = count(state.ticksSinceUpgrade, n, params.upgradeCooldownTicks);
  const ticksSinceBusy = count(state.ticksSinceBusy, n, params.downgradeAfterTicks);
  const downgrade =
    state.pendingUpgrades && ticksSinceBusy >= 0 && ticksSinceBusy >= params.downgradeAfterTicks;
  return {
    state: { ...state, ticksSinceUpgrade, ticksSinceBusy: downgrade ? 0 : ticksSinceBusy },
    downgrade,
  };
}

/** Whether an upgrade is left to undo. With none, the quiet counter is inactive until the next BUSY that upgrades. */
export function setPendingUpgrades(state: CoordinatorState, pending: boolean): CoordinatorState {
  return {
    ...state,
    pendingUpgrades: pending,
    ticksSinceBusy: pending ? state.ticksSinceBusy : -1,
  };
}

/** Ticks until `tick` would downgrade if no BUSY came, at least 1; undefined when it never would. */
export function ticksToDowngrade(
  state: CoordinatorState,
  params: CoordinatorParams,
): number | undefined {
  if (!state.pendingUpgrades || state.ticksSinceBusy < 0) return undefined;
  return Math.max(1, params.downgradeAfterTicks - state.ticksSinceBusy);
}

/** A counter stops at its threshold; one that is above a lowered threshold already stays where it is. */
function count(counter: number, n: number, threshold: number): number {
  if (counter < 0 || counter >= threshold) return counter;
  return Math.min(counter + n, threshold);
}
