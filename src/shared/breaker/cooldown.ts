/** How long a circuit stays open. Computed from the configuration in force each time, so that a change counts at once. */
import type { BreakerParams } from './breaker-params.js';
import { type OpenCircuit, TICKS_PER_MS } from './circuit-state.js';

type CooldownParams = Pick<
  BreakerParams,
  'cooldownMs' | 'cooldownFactor' | 'maxCooldownMs' | 'jitter'
>;
type Opening = Pick<OpenCircuit, 'openedAtMs' | 'failedProbes'>;

/**
 * The first moment at which a probe may go. `salt`: 32 bits that differ from circuit to circuit. With the time of the
 * opening they decide the jitter, so that every thread comes to the same end without having to be told it.
 */
export function cooldownEndMs(opening: Opening, params: CooldownParams, salt: number): number {
  const { cooldownMs, cooldownFactor, maxCooldownMs, jitter } = params;
  const grown =
    cooldownFactor === 1
      ? cooldownMs
      : Math.min(
          cooldownMs * cooldownFactor ** opening.failedProbes,
          Math.max(cooldownMs, maxCooldownMs),
        );
  const spared = jitter === 0 ? 0 : grown * jitter * fraction(opening.openedAtMs, salt);
  return opening.openedAtMs + grown - spared;
}

/** From [0, 1): the finalizer of MurmurHash3 over both. */
function fraction(openedAtMs: number, salt: number): number {
  const ticks = openedAtMs * TICKS_PER_MS;
  let h = salt ^ (ticks | 0) ^ Math.imul(Math.floor(ticks / 4_294_967_296), 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 4_294_967_296;
}
